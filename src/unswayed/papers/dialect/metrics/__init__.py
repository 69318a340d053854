"""The learned and lexical metrics that the paper compares."""
