"""The forms of a session beside the log itself, and the way from each to any other.

flight      a session apart from its spelling, and what a change of form lost
shortkeys   JSON lines: one object an event under short keys
outcomes    results as JSON values
companion   the JSON lines beside an .rlog, as agents' own tools write and read them
native      what the lines of such files say, nested or flat
shorten     what an .rlog shows of each event
logs        bbox/1, rlog/1 and the compact form from any session
jsonlines   objects to lines and back, and patches of objects
recognise   which form some bytes are
convert     from any form to any other, and without secrets
files       the only module here that opens files
"""
