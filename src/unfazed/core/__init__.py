"""The values that travel through unfazed, and the few rules that hold everywhere: ids, seeds, names, errors."""
