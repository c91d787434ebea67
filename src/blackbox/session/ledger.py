"""Lines joined into the calls and questions they belong to: one pass over a whole session."""

from collections import deque
from collections.abc import Iterable

from blackbox.document.line import Line
from blackbox.events.calls import Question as QuestionEvent
from blackbox.session.calls import Call, base_kind
from blackbox.session.matching import Match, Matcher, Role
from blackbox.session.questions import Question
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import OPEN_RESULTS

_MAKES_CALLS = frozenset(
    {Kind.TOOL, Kind.TOOL_START, Kind.MCP, Kind.SUBAGENT, Kind.SKILL, Kind.PLAN, Kind.RECALL},
)
_JOINED = _MAKES_CALLS | {Kind.TOOL_PROGRESS, Kind.OBSERVATION, Kind.QUESTION}


class Ledger:
    """Every line that makes or answers a call stands in exactly one of `calls`, `questions` and `orphans`."""

    def __init__(self, lines: Iterable[Line]) -> None:
        #: Tool, MCP, sub-agent, skill, plan and recall calls, in the order they began.
        self.calls: list[Call] = []
        self.questions: list[Question] = []
        #: Observations and progress of calls that the log does not have.
        self.orphans: list[Line] = []
        self._matcher = Matcher()
        #: The last call or question under each id and span, and the calls under it that still wait, oldest first.
        self._known: dict[str, Call | Question] = {}
        self._waiting: dict[str, deque[Call]] = {}
        self._asked: Question | None = None
        for line in lines:
            if line.kind in _JOINED:
                self._take(line)

    def _take(self, line: Line) -> None:
        match = self._matcher.feed(line)
        if match is None:
            self.calls.append(Call(line, is_waiting=line.result_kind in OPEN_RESULTS))
        elif line.kind is Kind.QUESTION:
            self._take_question(line, match)
        elif line.kind in _MAKES_CALLS:
            self._take_call(line, match)
        else:
            self._take_report(line, match)

    def _take_call(self, line: Line, match: Match) -> None:
        call = self._target(match.key)
        joins = match.role in (Role.ANSWER, Role.RETRY, Role.PROGRESS)
        if joins and isinstance(call, Call) and call.kind is base_kind(line.kind):
            call.add(line, is_waiting=match.is_open, is_retry=match.role is Role.RETRY)
            return
        call = Call(line, is_waiting=match.is_open)
        self.calls.append(call)
        self._remember(line, match, call)

    def _take_report(self, line: Line, match: Match) -> None:
        target = self._target(match.key) if match.role is not Role.ORPHAN else None
        if isinstance(target, Call):
            is_outcome = match.role is not Role.PROGRESS
            target.add(line, is_waiting=match.is_open if is_outcome else target.is_waiting)
        elif target is not None and line.kind is Kind.OBSERVATION:
            target.add(line)
        else:
            self.orphans.append(line)

    def _take_question(self, line: Line, match: Match) -> None:
        target = self._known.get(match.key)
        event = line.event
        text = event.text if isinstance(event, QuestionEvent) else None
        if match.role is Role.NEW and not text and match.key.startswith("\0"):
            # An answer without an id can only belong to the question before it.
            target = self._asked if self._asked is not None and self._asked.is_pending else None
        if isinstance(target, Question) and not (text and target.text and text != target.text and target.answer):
            target.add(line)
            return
        question = Question(line)
        self.questions.append(question)
        if question.id is None:
            self._asked = question
        self._remember(line, match, question)

    def _target(self, key: str) -> Call | Question | None:
        """What a later line with this key belongs to.

        Real logs give one id to several calls at once. Their answers come in the order of the calls, so the one that
        has waited longest is meant.
        """
        waiting = self._waiting.get(key) or deque()
        while waiting and not waiting[0].is_waiting:
            waiting.popleft()
        return waiting[0] if waiting else self._known.get(key)

    def _remember(self, line: Line, match: Match, found: Call | Question) -> None:
        span = line.head.metadata.get("span") if "span=" in line.source else None
        for key in {match.key, span or match.key}:
            self._known[key] = found
            if isinstance(found, Call):
                self._waiting.setdefault(key, deque()).append(found)
