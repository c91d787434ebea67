"""Blackbird as a guest of the system: the unit that starts it, and what goes when it leaves.

unit       the text of a systemd user unit
systemd    writes it, has it started, takes it away
inventory  what of ours is where, and what is somebody else's
removal    takes away what was agreed on
"""
