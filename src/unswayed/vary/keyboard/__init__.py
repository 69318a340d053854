"""Variation that comes from typing."""
