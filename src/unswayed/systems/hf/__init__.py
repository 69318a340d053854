"""Hugging Face models, opened from a folder and never from a hub; the architecture decides the kind of system."""

from unswayed.systems.hf._model import HfOptions, HfSystem, length_groups

__all__ = ["HfOptions", "HfSystem", "length_groups"]
