"""Classifiers, taggers and readers as ONNX graphs from Optimum, which need no torch."""
