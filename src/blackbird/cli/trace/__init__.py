"""The commands below `blackbird trace`."""
