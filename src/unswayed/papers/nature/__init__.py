"""NATURE (2021): spoken-language variation with true slot labels."""
