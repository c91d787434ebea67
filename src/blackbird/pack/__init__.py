"""The context pack: what a task should know of those before it, in few words, each leading to its evidence."""
