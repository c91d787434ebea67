"""Checks on calls and their answers."""

from collections.abc import Callable

from blackbox.check.findings import Finding
from blackbox.check.rules import rule_named
from blackbox.document.line import Line
from blackbox.events.calls import Subagent
from blackbox.events.lifecycle import Lifecycle, Rotate
from blackbox.session.matching import Match, Matcher, Role
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import ResultKind

#: Why a log that is named in another cannot be read, or None if it can (or is not ours to look for).
LookUp = Callable[[str], str | None]


class CallChecks:
    """Follows every call to its answer. Keeps open calls, and of answered ones a hash each."""

    def __init__(self, add: Callable[[Finding], None], matcher: Matcher, look_up: LookUp) -> None:
        self._add = add
        self._look_up = look_up
        self._matcher = matcher
        self._auto: dict[str, int] = {}

    def line(self, line: Line, match: Match) -> None:
        """Check one line, given the call it belongs to."""
        if match.role is Role.ORPHAN:
            self._orphan(line, match.key)
        elif match.role is Role.REUSED:
            message = f"the id `{match.key}` was used by an earlier call"
            self._add(rule_named("reused-id").finding(line.number, message))
        if line.kind is Kind.QUESTION and not match.is_open:
            self._answered(line, match.key)

    def handlers(self) -> dict[Kind, Callable[[Line], None]]:
        """What to call for which kind of line."""
        return {Kind.SUBAGENT: self._reference, Kind.LIFECYCLE: self._reference}

    def _reference(self, line: Line) -> None:
        """A line that may name another log: a sub-agent's own, or the next part of this session."""
        if "path=" not in line.source and line.name != "rotate":
            return
        event = line.event
        name = None
        if isinstance(event, Subagent):
            name = event.path
        elif isinstance(event, Lifecycle) and isinstance(event.primitive, Rotate):
            name = event.primitive.file
        reason = self._look_up(name) if name else None
        if reason is not None:
            self._add(rule_named("reference-missing").finding(line.number, f"{name}: {reason}"))

    def _orphan(self, line: Line, key: str) -> None:
        if line.kind is Kind.TOOL_PROGRESS:
            message = f"progress of `{line.name}`, which was not started"
            self._add(rule_named("progress-without-start").finding(line.number, message))
        elif key:
            message = f"no earlier line has the call id `{key}`"
            self._add(rule_named("unknown-call-id").finding(line.number, message))
        elif span := line.meta.span:
            message = f"no earlier line has the span `{span}`"
            self._add(rule_named("unknown-call-id").finding(line.number, message))
        else:
            self._add(rule_named("observation-without-id").finding(line.number, "which call does this answer?"))

    def _answered(self, line: Line, key: str) -> None:
        if line.result_kind is ResultKind.AUTO:
            self._auto[key] = line.number
        else:
            self._auto.pop(key, None)

    def finish(self) -> None:
        """What is still open at the end of the log."""
        for key, call in self._matcher.open.items():
            shown = "" if key.startswith("\0") else f" `{key}`"
            shown += f" ({call.name})" if call.name else ""
            if call.kind is Kind.SUBAGENT:
                message = f"sub-agent{shown} never reported back"
                self._add(rule_named("subagent-never-closed").finding(call.line, message))
            elif call.kind is Kind.QUESTION:
                self._add(rule_named("question-open").finding(call.line, f"question{shown} was never answered"))
            else:
                message = f"call{shown} never got its result"
                self._add(rule_named("never-answered").finding(call.line, message))
        for key, number in self._auto.items():
            shown = "" if key.startswith("\0") else f" `{key}`"
            message = f"question{shown} was answered by the agent itself"
            self._add(rule_named("auto-answer-unconfirmed").finding(number, message))
