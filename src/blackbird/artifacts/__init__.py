"""What a session leaves behind: outcomes, decisions, constraints, open threads, segments, each with its evidence."""
