"""Asking servers over HTTP: a client that is patient with them, and what OpenAI-compatible chat is on top of it."""
