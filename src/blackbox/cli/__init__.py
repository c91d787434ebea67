"""The command `blackbox`: reads arguments, calls the library, shows what it returns. No logic of its own.

app        the entry point: commands, exit codes, how errors are told
inputs     files, folders, globs and standard input as a list of logs
output     text, tables and JSON, on a terminal or in a pipe
validate · stats · parse · fix · explain · tour     one module a command
reading    tail, grep, audit, cost, apm
keeping    redact, blobs, export
"""
