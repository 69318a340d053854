"""Hugging Face models, opened from a folder and never from a hub. One file a kind; the architecture says which."""

# The task → the kind of system that learns it.
BY_TASK = {
    "classify": "hf/classify",
    "slu": "hf/tag",
    "qa": "hf/read",
    "translate": "hf/seq2seq",
    "sql": "hf/seq2seq",
}
