"""Pieces of logs that take more than a few lines to read: what stands in messages, and around them."""
