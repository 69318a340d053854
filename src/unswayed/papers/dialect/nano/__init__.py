"""NANO: metrics that know dialects, by a pretraining in which they learn which language or dialect a sentence is in."""
