"""A session as a flight log again: written, shown and audited.

events         a timeline as the entries of a log; `entries` has the words of each kind
roles          what a tool is for, told by its name
header         the header of a log
fitting        what is too long for a line, moved beside the log
companions     the pair of files of an .rlog, and the files of sub-agents
files          logs on disk: the only module here that opens any
live           a log of a session that goes on
conversations  where another conversation begins, or a branch of one
replay         a session as rows for people
"""
