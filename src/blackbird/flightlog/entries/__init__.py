"""What the entries of a flight log say: each kind of item in the words of the log format.

line       an entry, and the words that many entries share
calls      a call by what its tool is for
calling    the calls of a session while they are written: open, held, ended
answers    what came back from a tool
choices    what a user chose of what was asked
agents     sub-agents, their numbers, how they begin and end
marks      modes, phases, compaction, snapshots, queues, and all that has no line of its own
words      what an agent thought and said
responses  which items of a response are still to come, and the steps of a log
spending   what a response used, and how it came out
"""
