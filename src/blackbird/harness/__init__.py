"""Sessions as a harness works on them: opened with a goal, planned, run task by task, and summed up.

naming    ids of sessions and tasks
drafts    a plan that was written down, and what it changes; markdown reads one
knowing   what is known of sessions and their plans
stating   what is said of them, as records of the trace
session   all of that for one session
"""

from blackbird.harness.session import Harness

__all__ = ["Harness"]
