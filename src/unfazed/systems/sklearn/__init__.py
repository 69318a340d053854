"""Estimators of scikit-learn and their kin: fitted objects of one's own Python, and skops files."""
