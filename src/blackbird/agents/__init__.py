"""The agents that are known: what each needs to be recorded, as data, and what a child is given for it. Pure.

clients.toml   one entry a client: its programs, its variables, which way is harmless for it and why
table          the same as values
address        base URLs: what a user had set, taken as an upstream
hooks          how a client is made to say what its tools did
packs          how it is given the context pack
servers        how it is told of the memory's server
merging        settings of ours and of the user's, joined
plan           entry, mode, environment and arguments into what is set for one child
"""
