"""Pipelines of spaCy."""
