"""What a model says, in the words of each provider; the dialects know nothing of each other."""
