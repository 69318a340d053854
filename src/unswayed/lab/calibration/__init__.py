"""Profiles of simulated people, fitted to what real ones typed and said."""
