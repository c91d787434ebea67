"""Looks, and never writes: each module gathers one kind of fact, and raises nothing for what it cannot see.

recorder      the recorder, its settings, its port and who has it
recorded      what the trace has of calls, clocks and growth
logs          agents' own logs
surroundings  variables and settings of agents that lead around the recorder, or delete their logs
files         modes of our files, and room on the disk
"""
