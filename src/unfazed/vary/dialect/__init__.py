"""Operators that say the same in another dialect."""
