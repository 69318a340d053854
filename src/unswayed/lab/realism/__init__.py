"""Is simulated noise like people's? A judge that tries to tell them apart, the drop they cause, and how they look."""
