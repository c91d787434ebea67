"""What the generated pages are made of; docs/generate.py puts them together."""
