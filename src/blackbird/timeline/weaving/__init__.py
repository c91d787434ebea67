"""The tree of all that was said in a session, and how a history finds its place in it."""
