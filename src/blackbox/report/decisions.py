"""What was decided in a session, by whom and why: questions, plans, approvals, modes, models and priorities."""

import itertools
import re
from collections.abc import Iterator

import msgspec

from blackbox.document.line import Line
from blackbox.events import calls as events
from blackbox.events import lifecycle
from blackbox.report.places import Member, Place
from blackbox.session.effects import Plan
from blackbox.session.questions import Question
from blackbox.syntax.kinds import Kind

#: Lines of an agent that is at work.
_DEEDS = frozenset(
    {
        *(Kind.AGENT, Kind.THINKING, Kind.TODOS, Kind.TOOL, Kind.TOOL_START, Kind.TOOL_PROGRESS, Kind.OBSERVATION),
        *(Kind.SKILL, Kind.PLAN, Kind.RECALL, Kind.SUBAGENT, Kind.MCP, Kind.QUESTION),
    }
)
#: How the outcome of a wait begins that nobody has ended.
_NO_ANSWER = ("timeout", "timed out", "[timeout", "[pending", "[running", "[skip", "[err")


class Decision(msgspec.Struct, frozen=True):
    """One decision: what it was about, what came of it, who made it, and why, as far as the log says."""

    kind: str
    subject: str
    place: Place
    outcome: str | None = None
    #: `human`, `agent`, or None where the log does not say.
    by: str | None = None
    reason: str | None = None
    #: Whether the agent decided alone and no human has answered the question since.
    is_unconfirmed: bool = False
    #: Where the answer stands, if not on the same line.
    answered_at: Place | None = None


def decisions_of(member: Member) -> list[Decision]:
    """The decisions of one session, in the order of its lines; those of one that it goes on from were made there."""
    session = member.session
    order = {line: position for position, line in enumerate(session.lines)}
    found = [
        *_questions(member),
        *_plans(member),
        *_modes(member),
        *_models(member),
        *_marks(member),
    ]
    own = [pair for pair in found if not pair[0].is_inherited]
    return [decision for _, decision in sorted(own, key=lambda pair: order[pair[0]])]


def _questions(member: Member) -> Iterator[tuple[Line, Decision]]:
    for question in member.session.questions:
        line, answered = question.line, question.answer_line
        outcome, by = _answer(question)
        yield (
            line,
            Decision(
                "question",
                question.text or "(the log does not have what was asked)",
                member.place(line),
                outcome,
                by,
                question.reason,
                question.is_unconfirmed,
                member.place(answered) if answered is not None and answered is not line else None,
            ),
        )


def _answer(question: Question) -> tuple[str | None, str | None]:
    if not question.replies:
        return None, None
    reply = question.replies[-1]
    return ", ".join(question.selected) or reply.answer.text, "human" if reply.is_human else "agent"


def _plans(member: Member) -> Iterator[tuple[Line, Decision]]:
    for plan in member.session.plans:
        yield plan.calls[0].line, _plan(member, plan)


def _plan(member: Member, plan: Plan) -> Decision:
    # `p:write` holds the whole plan: its first line is the title, the line feed as written where nothing is escaped.
    title = re.split(r"\n|\\n", plan.title or plan.id or "a plan", maxsplit=1)[0].lstrip("# ")
    last = plan.calls[-1]
    answered = member.place(last.line) if len(plan.calls) > 1 else None
    return Decision("plan", title, member.place(plan.calls[0].line), ", ".join(plan.actions), answered_at=answered)


def _modes(member: Member) -> Iterator[tuple[Line, Decision]]:
    """Changes of mode. The one that a session begins in is none, unless the log says more of it than its name."""
    before: tuple[str, bool] | None = None
    untouched = frozenset(itertools.takewhile(lambda line: line.kind not in _DEEDS, member.session.lines))
    for period in member.session.modes:
        line, now = period.line, (period.name, period.afk)
        was, before = before, now
        if line is None or now == was:
            continue
        reason = _remark(line.event.comment) if isinstance(line.event, events.Mode) else None
        if was is not None or reason or period.afk or line not in untouched:
            outcome = f"{period.name}, nobody answers questions" if period.afk else period.name
            yield line, Decision("mode", "mode", member.place(line), outcome, reason=reason)


def _models(member: Member) -> Iterator[tuple[Line, Decision]]:
    """Changes of model. The one that a session begins with is none, unless the log says why."""
    before: str | None = None
    for use in member.session.models:
        was, before = before, use.model
        if use.source == "switch" and use.line is not None and use.model != was and (was is not None or use.reason):
            yield use.line, Decision("model", "model", member.place(use.line), use.model, reason=use.reason)


def _marks(member: Member) -> Iterator[tuple[Line, Decision]]:
    session = member.session
    for line, anchor in session.anchors:
        subject = f"keep step {anchor.step}" if anchor.step is not None else "keep this step"
        yield line, Decision("anchor", subject, member.place(line), reason=anchor.reason)
    for line, wait in session.approvals:
        answered = wait.outcome is not None and not wait.outcome.lower().startswith(_NO_ANSWER)
        by = "human" if answered else None
        yield line, Decision("approval", _subject(line), member.place(line), wait.outcome or "no answer", by)
    for line, escalation in session.escalations:
        result = line.result
        outcome = result.text if result is not None else None
        yield line, Decision("escalation", escalation.message, member.place(line), outcome)
    for line, assessment in session.assessments:
        priorities = "; ".join(f"{name}: {task}" for name, task in assessment.priorities)
        subject = "priorities" if priorities else _subject(line)
        yield line, Decision("assessment", subject, member.place(line), priorities or None)
    for line, batch in session.batches:
        yield line, Decision("batch", ", ".join(batch.items), member.place(line), reason=batch.reason)
    for period in session.phases:
        event = period.line.event if period.line is not None else None
        phase = event.primitive if isinstance(event, lifecycle.Lifecycle) else None
        if period.line is not None and isinstance(phase, lifecycle.Phase) and phase.approved is not None:
            outcome = "approved" if phase.approved else "not approved"
            yield period.line, Decision("plan approval", f"phase {period.name}", member.place(period.line), outcome)


def _subject(line: Line) -> str:
    """What an `@` line is about: its arguments as they stand."""
    event = line.event
    if not isinstance(event, lifecycle.Lifecycle):
        return line.text
    named = [f"{key}={event.arguments.text(key)}" for key in event.arguments.keyword]
    return " ".join(word for word in (event.arguments.words, *named) if word) or event.name


def _remark(comment: str | None) -> str | None:
    return comment.lstrip("# \t") or None if comment else None
