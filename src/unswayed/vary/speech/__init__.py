"""Variation that comes from speaking to a recogniser."""
