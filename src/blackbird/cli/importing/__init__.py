"""`blackbird import`: agents' own logs, shown before they are taken in, taken in, and followed.

command    the command line
following  what is added, as it comes
round      one round: what is to be done, and doing it
showing    what was found and what was done, for people and for programs
"""
