"""What makes systems or their training data sturdier."""
