"""Does your NLP system, or the metric that judges it, stay unfazed when people say the same thing differently?

The public names; each is imported when first used, so that `import unfazed` is fast.
"""
