"""Blackbird: records what agents really sent and received, and derives a memory from it.

The memory is not here yet. What is, from the command down:

cli        the command `blackbird`
demo       a scripted agent, and a tour with it
provider   a scripted provider to record against
exchange   requests and their responses, put together from records
trace      the files of the trace: read, scanned, verified
recorder   the recorder program: found, started, stopped, asked
config     what can be set, where it was set, and what the recorder gets to read
home       where everything of one user is
errors     the exceptions
"""
