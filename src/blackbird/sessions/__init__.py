"""Sessions, runs, threads and sub-agents, from requests and what harnesses stated; and the trace as it grows.

growing  a segment as it grows, in any pieces
follow   the only module that opens files: new records of a trace, each once
live     requests as they go on, from new records
lines    what happened as a line for people
links    what a client's own ids say: session, thread, parent, sub-agent
tally    what passed, counted record by record
imported what was taken in of agents' own logs
rows     one row a session, and one for what nobody can be named for
threads  the threads of a session as a tree
detail   one session: tasks, runs, threads
survey   reads a trace for rows and details
view     sessions as objects for programs, and in short words
"""
