"""Agents' own logs: found, read from where they were left, and sent to the recorder to be kept.

line       a line of a log, and where it stood
files      logs as they lie on the disk, line by line
opencode   the rows of opencode's database, read from a copy
recognise  whose log a file is, by its content
facts      what the lines of a log say of it at a glance
sources    what a trace says of the logs that were taken in
kept       lines out of the records that they are kept in
places     where agents keep their logs on this machine
ledger     how far each log was taken in
finding    which logs there are, and what of each is new
taking     logs on their way into the trace
databases  the same for databases, a session at a time
"""
