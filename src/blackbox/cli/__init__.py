"""The command `blackbox`: reads arguments, calls the library, shows what it returns. No logic of its own.

app        the entry point: commands, exit codes, how errors are told
validate · stats · parse · fix · explain · tour     one module a command

The other commands have rooms of their own: `reading` has those that answer questions about sessions, `keeping` those
about what is kept.
"""
