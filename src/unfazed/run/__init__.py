"""Asking a system about every example and variant: planned, durable, resumable."""
