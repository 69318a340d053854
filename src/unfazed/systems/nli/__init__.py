"""Neural judges of entailment over word vectors that are given by path."""
