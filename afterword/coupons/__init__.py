"""Pools of coupon codes, each of which is given to one response."""
