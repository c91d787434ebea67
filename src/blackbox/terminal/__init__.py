"""What every command shares: the logs that its arguments name, and the two streams it writes to.

inputs   files, folders, globs and standard input as a list of logs
output   text, tables and JSON, on a terminal or in a pipe
"""
