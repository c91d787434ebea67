"""Plans with their history, and recalls with what they brought back."""

from collections.abc import Iterable
from typing import NamedTuple

from blackbox.events import calls as events
from blackbox.session.calls import Call
from blackbox.syntax.kinds import Kind


class Plan:
    """A plan: the `p:` lines with one id are its history. Without ids, `p:create` begins the next plan."""

    def __init__(self, plan_id: str | None) -> None:
        self.id = plan_id
        self.calls: list[Call] = []
        #: The plan file named when the plan was written.
        self.path: str | None = None

    def __repr__(self) -> str:
        return f"Plan({self.id!r}, {self.actions!r})"

    @property
    def actions(self) -> tuple[str, ...]:
        """`create`, `update`, `write`, `complete`, in order."""
        return tuple(call.name for call in self.calls)

    @property
    def title(self) -> str | None:
        """The first title given."""
        return next((call.arguments.words for call in self.calls if call.arguments.words), None)

    @property
    def is_complete(self) -> bool:
        """Whether it was completed."""
        return "complete" in self.actions


class Recalled(NamedTuple):
    """What was looked up in memory: the queries, how many matches the log counts, and those it shows."""

    call: Call
    queries: tuple[str, ...]
    matched: int | None
    matches: tuple[str, ...]


def plans_of(calls: Iterable[Call]) -> tuple[Plan, ...]:
    """The plans in order; `p:file` lines name a file and make no plan."""
    found: list[Plan] = []
    by_id: dict[str | None, Plan] = {}
    path: str | None = None
    for call in calls:
        if call.kind is not Kind.PLAN:
            continue
        path = call.arguments.text("path") or path
        if call.name == "file":
            continue
        if call.id not in by_id or (call.id is None and call.name == "create"):
            by_id[call.id] = Plan(call.id)
            found.append(by_id[call.id])
        plan = by_id[call.id]
        plan.calls.append(call)
        plan.path = path if call.name == "write" else plan.path
    return tuple(found)


def plan_files_of(calls: Iterable[Call]) -> tuple[str, ...]:
    """The files that `p:file` names, each once."""
    paths = (call.arguments.text("path") for call in calls if call.kind is Kind.PLAN)
    return tuple(dict.fromkeys(path for path in paths if path))


def recalls_of(calls: Iterable[Call]) -> tuple[Recalled, ...]:
    """The recalls in order."""
    found: list[Recalled] = []
    for call in calls:
        event = call.line.event
        if isinstance(event, events.Recall):
            result = call.result
            shown = result.text.split("\n")[1:] if result is not None else []
            matches = tuple(text for line in shown if (text := line.strip()))
            found.append(Recalled(call, event.queries, result.count if result is not None else None, matches))
    return tuple(found)
