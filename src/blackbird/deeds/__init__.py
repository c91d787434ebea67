"""What a tool call does, told by its name and its arguments: edits, commands, todos, questions, plans."""
