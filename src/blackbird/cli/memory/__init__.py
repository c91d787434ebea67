"""Commands about the memory: `derive`, `artifacts`."""
