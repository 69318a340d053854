"""P̂aRTE (EACL 2023): paraphrased textual entailment."""
