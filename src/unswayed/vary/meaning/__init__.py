"""Controls: small edits after which the right answer, or the score, should differ."""
