"""A cart and what it costs."""


class Cart:
    def __init__(self, coupons):
        self.coupons = coupons
        self.lines = []

    def add(self, article, price, count=1):
        for line in self.lines:
            if line["article"] == article:
                line["count"] += count
                break
        else:
            self.lines.append({"article": article, "price": price, "count": count})

    def total(self, code=None):
        """The price of everything, in cents, less the coupon's discount."""
        amount = 0
        for line in self.lines:
            amount += line["price"] * line["count"]
        if code:
            coupon = self.coupons.find(code)
            discount = amount * coupon.percent // 100
            amount -= discount
        return amount
