"""From a cart to an order."""


def checkout(cart, payment, code=None):
    """Takes the money and returns the receipt, or None if the bank refuses."""
    amount = cart.total(code)
    if amount == 0:
        return None
    try:
        receipt = payment.charge(amount)
    except ConnectionError:
        receipt = payment.charge(amount)
    return receipt
