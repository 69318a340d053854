"""Comparing runs on one suite: what differs, by how much, and whether that may be chance."""
