"""Coupons by code."""

from datetime import date


class Coupon:
    def __init__(self, code, percent, expires):
        self.code = code
        self.percent = percent
        self.expires = expires


class CouponBook:
    def __init__(self):
        self._coupons = {}

    def add(self, coupon):
        self._coupons[coupon.code] = coupon

    def find(self, code, today=None):
        """The coupon of that code, or None if there is none or it has expired."""
        coupon = self._coupons.get(code)
        if coupon is None or coupon.expires < (today or date.today()):
            return None
        return coupon
