"""Variation that comes from speaking: fillers, other words for the same, words that sound alike."""
