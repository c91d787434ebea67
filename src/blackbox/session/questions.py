"""A question as a whole: what was asked, who answered, and whether a human has said yes to it."""

from typing import NamedTuple

from blackbox.document.line import Line
from blackbox.events.calls import Answer
from blackbox.events.calls import Question as QuestionEvent
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import ResultKind

#: Results that are no answer: still waiting, or the asking itself went wrong.
_NO_ANSWER = frozenset(
    {
        ResultKind.PENDING,
        ResultKind.RUNNING,
        ResultKind.STARTED,
        ResultKind.RETRY,
        ResultKind.ERR,
        ResultKind.SKIP,
    }
)


class Reply(NamedTuple):
    """An answer, and the line it stands on."""

    line: Line
    answer: Answer

    @property
    def is_human(self) -> bool:
        """Whether a person gave it: chosen or in their own words, on a `q:` line."""
        return self.line.kind is Kind.QUESTION and self.answer.kind in ("selected", "text")


class Question:
    """A question with its answers. Lines with one id are one question, unless an answered one is asked anew."""

    def __init__(self, line: Line) -> None:
        self.lines: list[Line] = []
        #: What was asked.
        self.text: str | None = None
        #: The choices offered; none where any answer will do.
        self.options: tuple[str, ...] = ()
        #: Whether several options may be chosen.
        self.multi = False
        #: Every answer in order, `[pending]` and a bare `[auto]` left out.
        self.replies: list[Reply] = []
        #: Whether the question did not wait for a human: `[auto]`, decided or not.
        self.is_auto = False
        #: Whether it was asked while nobody was there to answer (`m:… afk=true`).
        self.afk = False
        self.add(line)

    def __repr__(self) -> str:
        return f"Question({self.id!r}, {self.text!r}, line={self.line.number}, answer={self.answer!r})"

    def add(self, line: Line) -> None:
        """Join a later line; only the joining pass over a log does this."""
        self.lines.append(line)
        event = line.event
        if isinstance(event, QuestionEvent):
            self.text = self.text or event.text
            self.options = self.options or event.options
            self.multi = self.multi or event.multi
            self.is_auto = self.is_auto or (event.result is not None and event.result.kind is ResultKind.AUTO)
        answer = _answer(line)
        if answer is not None:
            self.replies.append(Reply(line, answer))

    @property
    def line(self) -> Line:
        """The line that asks."""
        return self.lines[0]

    @property
    def id(self) -> str | None:
        """The question's id."""
        return self.line.id

    @property
    def answer(self) -> Answer | None:
        """The answer that stands: the last one."""
        return self.replies[-1].answer if self.replies else None

    @property
    def answer_line(self) -> Line | None:
        """The line of the answer that stands."""
        return self.replies[-1].line if self.replies else None

    @property
    def selected(self) -> tuple[str, ...]:
        """The options chosen; a single choice with commas in it is one option if it was offered so."""
        chosen = self.answer.selected if self.answer is not None else ()
        whole = ", ".join(chosen)
        return (whole,) if not self.multi and whole in self.options else chosen

    @property
    def reason(self) -> str | None:
        """Why the agent chose as it did, where it decided alone."""
        return self.answer.reason if self.answer is not None else None

    @property
    def is_pending(self) -> bool:
        """Whether nobody has answered yet."""
        return not self.replies

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the agent decided alone and no human answer to this very question has followed.

        Only a later `q:` line with the same id and a choice or free text confirms. A user message does not, however
        friendly: the log cannot say which question it means.
        """
        for reply in reversed(self.replies):
            if reply.is_human:
                return False
            if reply.answer.kind == "auto":
                return True
        return False


def _answer(line: Line) -> Answer | None:
    result = line.result
    if result is None or result.kind in _NO_ANSWER:
        return None
    event = line.event
    if not isinstance(event, QuestionEvent):
        return Answer("text", text=result.text) if result.text else None
    answer = event.answer
    return answer if answer is not None and (answer.selected or answer.text) else None
