"""Logs as entries: lossless in memory, incremental from a stream, live from a growing file.

line       one entry, parsed as far as someone asks
scanner    bytes in, complete entries out
document   a whole log, and `emit` back to its very bytes
files      the only module here that opens files: read, stream, follow
"""
