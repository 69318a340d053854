"""Pipelines of spaCy, opened from a folder and never from a package or a hub."""
