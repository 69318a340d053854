"""Thin doors to other tools: pytest, Inspect AI, DeepEval, pull requests."""
