"""Blackbird: records what agents really sent and received, and derives a memory from it.

From the command down:

cli        the command `blackbird`
demo       a scripted agent, and a tour with it
derive     from the trace to the memory
store      the memory: artifacts in a database
artifacts  what a session leaves behind
timeline   what happened in a session, each once and in order
provider   a scripted provider to record against
exchange   requests and their responses, put together from records
trace      the files of the trace: read, scanned, verified
recorder   the recorder program: found, started, stopped, asked
config     what can be set, where it was set, and what the recorder gets to read
home       where everything of one user is
errors     the exceptions
"""
