"""The story that the demo tells: three tasks of one session; the second takes back what the first decided."""

from typing import NamedTuple

SESSION = "demo"
GOAL = "A calculator that shops can trust"


class Chapter(NamedTuple):
    """One task: its id, and what the user asks for."""

    task: str
    order: str


CHAPTERS = (
    Chapter(
        "repair",
        "The test of calc.py fails. Find out why, and mend it. Use integer cents for amounts. "
        "calc.py must not import third-party packages.",
    ),
    Chapter(
        "extend",
        "Add a function sub() to calc.py. Use decimal.Decimal for amounts instead of integer cents.",
    ),
    Chapter("cover", "Extend test_calc.py to cover negative numbers."),
)
#: What is looked for at the end.
QUESTION = "amounts"
