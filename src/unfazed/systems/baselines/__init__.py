"""Small models that train on the spot, so that there is always something to test."""
