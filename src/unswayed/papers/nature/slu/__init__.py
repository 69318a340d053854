"""Neural models of intents and slots that train here with PyTorch: one file a model, one training loop for all."""
