"""A scripted agent repairs a small program through the recorder, offline, so that there is something to look at.

workshop  the program to be repaired, and the tools that an agent has there
messages  what a provider streams, put together
agent     asks, does what it is told, asks again
watch     tells of requests as they are recorded
tour      provider, recorder and agent from start to stop
command   `blackbird demo`
"""
