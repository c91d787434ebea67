"""Commands about the memory: what makes it, and what asks it."""
