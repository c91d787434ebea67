"""What a user says of sessions and tasks, and the plan that comes of it."""
