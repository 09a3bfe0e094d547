"""A small shop: carts, coupons and orders."""
