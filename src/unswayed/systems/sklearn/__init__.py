"""Models of scikit-learn in files."""
