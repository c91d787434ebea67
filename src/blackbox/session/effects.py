"""What the calls of a session come to: plans and recalls, files touched, failures."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events import tools
from blackbox.events.calls import Arguments, Recall
from blackbox.events.tools import MODIFYING, Access
from blackbox.session.calls import Call, Status
from blackbox.session.lines import Lines
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
    for call, path in _with_plan_file(calls):
        if call.kind is not Kind.PLAN or call.name == "file":
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
    return tuple(dict.fromkeys(path for _, path in _with_plan_file(calls) if path))


def _with_plan_file(calls: Iterable[Call]) -> Iterator[tuple[Call, str | None]]:
    """Every call with the plan file in force there: the last one that a `p:` line has named."""
    path: str | None = None
    for call in calls:
        if call.kind is Kind.PLAN:
            path = call.arguments.text("path") or path
        yield call, path


def recalls_of(calls: Iterable[Call]) -> tuple[Recalled, ...]:
    """The recalls in order."""
    found: list[Recalled] = []
    for call in calls:
        event = call.line.event if call.kind is Kind.RECALL else None
        if isinstance(event, Recall):
            result = call.result
            shown = result.text.split("\n")[1:] if result is not None else []
            matches = tuple(text for line in shown if (text := line.strip()))
            found.append(Recalled(call, event.queries, result.count if result is not None else None, matches))
    return tuple(found)


class Touch(NamedTuple):
    """One touch of a file: how, and by which call."""

    access: Access
    call: Call


class TouchedFile(NamedTuple):
    """A path as it is written in the log, and its touches in order."""

    path: str
    touches: tuple[Touch, ...]

    @property
    def accesses(self) -> frozenset[Access]:
        """All the ways in which it was touched."""
        return frozenset(touch.access for touch in self.touches)

    @property
    def changes(self) -> tuple[Touch, ...]:
        """The touches that were to write, edit or delete it, failed ones too; `p:file` only names a plan file."""
        return tuple(
            touch
            for touch in self.touches
            if touch.access in MODIFYING and (touch.access, touch.call.name) != (Access.PLAN, "file")
        )

    @property
    def is_modified(self) -> bool:
        """Whether a call that did not fail wrote, edited or deleted it."""
        return any(call.status not in _VOID and not call.is_unknown for _, call in self.changes)

    @property
    def is_unknown(self) -> bool:
        """Whether no call is known to have changed it, and of one nobody knows how it came out."""
        return not self.is_modified and any(call.is_unknown for _, call in self.changes)


_VOID = frozenset({Status.ERR, Status.SKIP})
_TOOL_KINDS = (Kind.TOOL, Kind.MCP)


def files_of(calls: Iterable[Call]) -> dict[str, TouchedFile]:
    """The touched files by path, in the order they were first touched. Shell commands are not taken apart."""
    found: dict[str, list[Touch]] = {}
    for call, plan_file in _with_plan_file(calls):
        if call.kind is Kind.PLAN:
            if plan_file and call.name in ("file", "write"):
                found.setdefault(plan_file, []).append(Touch(Access.PLAN, call))
        elif call.kind in _TOOL_KINDS:
            for access, path in _touched(call):
                found.setdefault(path, []).append(Touch(access, call))
    return {path: TouchedFile(path, tuple(touches)) for path, touches in found.items()}


def unclear_of(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Calls that did not fail and may have changed a file that the log does not tell.

    A tool that is not known and was given a path may have done anything to it; an edit may not say of what. Commands
    are another matter.
    """
    return tuple(
        call
        for call in calls
        if call.kind in _TOOL_KINDS
        and call.status not in _VOID
        and not tools.is_command(call.name)
        and _is_unclear(call)
    )


def _is_unclear(call: Call) -> bool:
    accesses = {access for access, _ in _touched(call)}
    return Access.NAMED in accesses or (not accesses and _access(call) in MODIFYING)


def _touched(call: Call) -> list[tuple[Access, str]]:
    access, arguments = _access(call), call.arguments
    paths = tools.paths_in(arguments.keyword)
    if not paths and access in MODIFYING:
        patch = tools.first_text(arguments.keyword, tools.keys().patches) or arguments.words
        patched = [(one.access, one.path) for one in tools.patched_in(patch)]
        if patched:
            return list(dict.fromkeys(patched))
    if not paths and call.kind is Kind.TOOL and tools.takes_path_first(call.name) and arguments.positional:
        paths = list(tools.paths_of(arguments.positional[0]))
    return [(access, path) for path in dict.fromkeys(paths)]


def _access(call: Call) -> Access:
    return tools.access_of(call.name, call.arguments.keyword)


class Failure(NamedTuple):
    """An error: its message, the line that reports it, and the call that failed, if it was one."""

    message: str
    line: Line
    call: Call | None = None


def failures_of(lines: Lines, calls: Iterable[Call]) -> tuple[Failure, ...]:
    """The errors in order of their lines.

    A call counts by its outcome: one that succeeded in the end is no error, whatever its first attempt was (its
    `attempts` keep that). A `level=error` line of a call that failed is that call's error and not a second one.
    """
    found: list[Failure] = []
    reported: set[Line] = set()
    for call in calls:
        if call.status is Status.ERR:
            found.append(_of_call(call))
            reported.update(call.lines)
    found += [
        Failure(_message(line), line)
        for line in lines.containing("level=")
        if line not in reported and line.meta.level == "error"
    ]
    return tuple(sorted(found, key=lambda failure: lines.positions[failure.line]))


def _message(line: Line) -> str:
    """What a line says, without its metadata."""
    if line.result is not None:
        return line.result.text
    arguments = getattr(line.event, "arguments", None)
    return arguments.words or line.name if isinstance(arguments, Arguments) else line.parts.text


def _of_call(call: Call) -> Failure:
    result = call.result
    message = (result.detail or result.text) if result is not None else ""
    return Failure(message, call.result_line or call.line, call)
