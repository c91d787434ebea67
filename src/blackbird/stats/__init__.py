"""How the memory does: how far behind it is, how fast it answers, what is in it, and what its sessions spent.

figures     all of it as values, computed from what was read
collecting  reads the memory, the trace's end and the answers that are kept
prometheus  the figures in Prometheus' text format
"""
