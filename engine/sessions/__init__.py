"""Sessions in one transaction, their producers and consumers, and requests."""
