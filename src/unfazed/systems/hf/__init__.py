"""Hugging Face models, opened from a folder and never from a hub. One file a kind; the architecture says which."""
