"""Sessions as a harness works on them: opened with a goal, planned, run task by task, and summed up.

naming     ids of sessions and tasks
verdicts   how something ended by somebody's word
drafts     a plan that was written down, and what it changes
markdown   such a plan in Markdown
knowing    what is known of sessions and their plans, and which session is meant
stating    what is said of them, as records of the trace
task       a task that is under way
session    `Harness` itself
"""

from blackbird.harness.session import Harness
from blackbird.harness.task import Task

__all__ = ["Harness", "Task"]
