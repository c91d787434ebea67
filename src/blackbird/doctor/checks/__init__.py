"""Facts to findings, without looking at anything else.

recorder      the recorder and its port
trace         clocks, losses and room
files         modes and owners
passing       calls that agents made past the recorder
surroundings  base URLs and proxies that are set, and logs that agents delete
"""
