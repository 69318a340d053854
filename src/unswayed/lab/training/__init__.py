"""Training loops: models that learn on this machine, checkpoints to go on from, and fine-tuning of others' models."""
