"""Whole sentences said another way."""
