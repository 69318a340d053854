"""The prompt said another way, and not the example: wording, format, examples shown, order of choices."""
