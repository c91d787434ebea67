"""Many claims, few artifacts: the same said again is one, what contradicts an earlier one supersedes it.

What was decided ends where it is forbidden later, and the other way round. Nothing is deleted. What is the same is
known by an explicit subject, or by the same words; where neither is there, both are kept with their dates.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from blackbird.artifacts import prose
from blackbird.artifacts.claims import Claim
from blackbird.artifacts.model import (
    Artifact,
    Constraint,
    Decision,
    OpenThread,
    Provenance,
    Reach,
    Signal,
    Speaker,
    ThreadState,
    Type,
    artifact_id,
)

#: Of something that was said very often, the first places and the last ones are kept.
_FIRST_PLACES, _LAST_PLACES = 4, 4
#: What is shorter stands for nothing longer.
_SHORTEST_NAME = 4


def consolidate(session: str, claims: Iterable[Claim], builder: str) -> list[Artifact]:
    """The decisions, constraints and open threads of a session."""
    ordered = sorted((claim for claim in claims if claim.provenance), key=lambda claim: (claim.order, claim.normal))
    decisions, constraints, threads = _Rulings(session), _Rulings(session), _Threads(session)
    for claim in ordered:
        match claim.type:
            case Type.DECISION:
                _settle(decisions.take(claim), decisions, constraints)
            case Type.CONSTRAINT:
                _settle(constraints.take(claim), decisions, constraints)
            case _:
                threads.take(claim)
    kept = [*decisions.all, *constraints.all]
    return [*(entry.artifact(builder, constraints) for entry in kept), *threads.artifacts(builder)]


def _settle(entry: "_Entry", decisions: "_Rulings", constraints: "_Rulings") -> None:
    """What is forbidden or turned down is decided no longer, and what is decided is forbidden no longer."""
    if entry.superseded_by is None and entry.claim.reach is Reach.SESSION:
        decisions.end(entry, _turns_down)
        constraints.end(entry, _allows)


class _Entry(msgspec.Struct):
    """A decision or a constraint as it grows."""

    id: str
    claim: Claim
    subject: str | None
    last: Claim
    times: int
    places: list[Provenance]
    supersedes: "_Entry | None" = None
    superseded_by: "_Entry | None" = None
    until: int | None = None
    overrides: list[str] = []

    def again(self, claim: Claim) -> None:
        self.times += 1
        self.last = claim
        self.places += claim.provenance

    def give_way(self, other: "_Entry") -> None:
        self.superseded_by = other
        self.until = other.last.at
        other.supersedes = other.supersedes or self

    def artifact(self, builder: str, constraints: "_Rulings") -> Artifact:
        claim = self.claim
        evidence = claim.provenance[0].evidence
        is_placed = evidence.segment is not None and evidence.sequence is not None
        shared: dict[str, Any] = {
            "statement": claim.statement,
            "by": claim.by,
            "signal": claim.signal,
            "rationale": claim.rationale,
            "subject": self.subject,
            "choice": claim.choice,
            "holds_from": claim.at,
            "holds_until": self.until,
            "last_said": self.last.at,
            "times": self.times,
            "recorded": (evidence.segment, evidence.sequence) if is_placed else None,
            "supersedes": self.supersedes.id if self.supersedes is not None else None,
            "superseded_by": self.superseded_by.id if self.superseded_by is not None else None,
        }
        if claim.type is Type.DECISION:
            content: Decision | Constraint = Decision(**shared, alternatives=claim.rejected)
        else:
            overridden = constraints.overridden_by(self)
            content = Constraint(**shared, must=claim.must, reach=claim.reach, overrides=overridden)
        return Artifact(
            id=self.id,
            type=claim.type,
            session=constraints.session,
            task=claim.task,
            run=claim.run,
            title=claim.statement,
            content=content,
            provenance=_bounded(self.places),
            builder=builder,
            at=self.last.at,
        )


class _Rulings:
    """Decisions, or constraints, in the order in which they were made."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.all: list[_Entry] = []
        #: Those that hold, by what they are about and how far they reach.
        self._active: dict[tuple[str, ...], list[_Entry]] = {}
        self._counts: dict[tuple[str, ...], int] = {}

    def take(self, claim: Claim) -> _Entry:
        """Hear of a ruling; it is that of an entry which may be known, or give way at once."""
        subject = claim.subject or self._subject_of_rejected(claim)
        active = self._active.setdefault(_place(claim, subject), [])
        known = next((entry for entry in active if _same(entry.claim, claim)), None)
        if known is not None:
            known.again(claim)
            return known
        entry = self._begin(claim, subject)
        against = [other for other in active if _contradict(other.claim, claim)]
        ruling = next((other for other in against if _outranks(other.claim, claim)), None)
        if ruling is not None:
            # An agent's word does not undo its user's.
            entry.superseded_by, entry.until = ruling, claim.at
            return entry
        for other in against:
            active.remove(other)
            other.give_way(entry)
        active.append(entry)
        return entry

    def end(self, ruling: _Entry, is_ended: Callable[[_Entry, _Entry], bool]) -> None:
        """Have what a ruling of any type leaves no room for give way to it."""
        for active in self._active.values():
            for other in [one for one in active if one is not ruling and is_ended(ruling, one)]:
                if not _outranks(other.claim, ruling.claim):
                    active.remove(other)
                    other.give_way(ruling)

    def overridden_by(self, entry: _Entry) -> tuple[str, ...]:
        """The session-wide constraints of the same subject that one of a task goes before."""
        if entry.claim.reach is not Reach.TASK or entry.subject is None:
            return ()
        return tuple(
            other.id
            for other in self.all
            if other.claim.reach is Reach.SESSION
            and other.subject == entry.subject
            and other.claim.order < entry.claim.order
            and _contradict(other.claim, entry.claim)
            and (other.superseded_by is None or other.superseded_by.claim.order > entry.claim.order)
        )

    def _subject_of_rejected(self, claim: Claim) -> str | None:
        """`X instead of Y` is about whatever Y was chosen for; a way back is about what it was left for."""
        rejected = {prose.key(one) for one in claim.rejected}
        for entry in reversed(self.all):
            if entry.subject is None or entry.claim.chosen is None or entry.claim.reach is not claim.reach:
                continue
            if entry.superseded_by is None and any(_is_alike(entry.claim.chosen, one) for one in rejected):
                return entry.subject
            if claim.is_revert and claim.chosen is not None and _is_alike(entry.claim.chosen, claim.chosen):
                return entry.subject
        return None

    def _begin(self, claim: Claim, subject: str | None) -> _Entry:
        key = (*_place(claim, subject), claim.chosen or "", str(claim.must))
        number = self._counts[key] = self._counts.get(key, -1) + 1
        name = artifact_id(claim.type, self.session, *key, *([str(number)] if number else []))
        entry = _Entry(name, claim, subject, claim, 1, list(claim.provenance))
        self.all.append(entry)
        return entry


def _place(claim: Claim, subject: str | None) -> tuple[str, ...]:
    """Where two claims meet: a subject of which each says what was chosen, or the same words; and the same reach."""
    reach = (claim.reach, claim.task or "") if claim.reach is Reach.TASK else (claim.reach,)
    if subject is not None and claim.chosen is not None:
        return ("subject", subject, *reach)
    return ("words", claim.normal, *reach)


def _same(one: Claim, other: Claim) -> bool:
    """Whether two claims that meet say the same."""
    return one.must is other.must and one.chosen == other.chosen


def _contradict(one: Claim, other: Claim) -> bool:
    """Whether two claims that meet cannot both hold: two choices for one thing, or one demanded and forbidden."""
    if one.must is not other.must:
        return one.chosen == other.chosen
    return one.must and one.chosen != other.chosen


def _turns_down(ruling: _Entry, decision: _Entry) -> bool:
    """Whether a later ruling forbids the very choice of a decision, or names it as what is not chosen.

    Of the options of a question, what they were for says more: its subject.
    """
    claim = ruling.claim
    if claim.signal is Signal.STRUCTURED or decision.claim.chosen is None:
        return False
    forbidden = [prose.key(one) for one in claim.rejected] if claim.must else [claim.chosen or ""]
    is_other = None not in (ruling.subject, decision.subject) and ruling.subject != decision.subject
    return not is_other and any(one and _is_alike(decision.claim.chosen, one) for one in forbidden)


def _allows(ruling: _Entry, ban: _Entry) -> bool:
    """Whether a later decision takes what a constraint forbids: for the same, for all, or as it was before."""
    claim = ruling.claim
    if claim.type is not Type.DECISION or ban.claim.must or ban.claim.chosen is None or claim.chosen is None:
        return False
    is_meant = ruling.subject in (None, ban.subject) or claim.is_revert
    return is_meant and ban.claim.reach is Reach.SESSION and _is_alike(ban.claim.chosen, claim.chosen)


def _is_alike(one: str, other: str) -> bool:
    """Whether two choices are the same, or one is the other's name in short: its last word, or its last part."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _SHORTEST_NAME and long.endswith((f" {short}", f".{short}")))


def _outranks(active: Claim, claim: Claim) -> bool:
    return active.by is Speaker.USER and claim.by is Speaker.AGENT and claim.signal is Signal.PROSE


class _Thread(msgspec.Struct):
    """An open thread as it grows."""

    claim: Claim
    state: ThreadState
    places: list[Provenance]
    closed: Claim | None = None


class _Threads:
    """What was left open, by its words."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._known: dict[str, _Thread] = {}

    def take(self, claim: Claim) -> None:
        known = self._known.get(claim.normal)
        if known is None:
            self._known[claim.normal] = _Thread(claim, claim.state, list(claim.provenance), _closing(claim))
            return
        known.state, known.closed = claim.state, _closing(claim)
        known.places += claim.provenance

    def artifacts(self, builder: str) -> Iterable[Artifact]:
        for key, thread in self._known.items():
            claim, closed = thread.claim, thread.closed
            yield Artifact(
                id=artifact_id(Type.THREAD, self._session, key),
                type=Type.THREAD,
                session=self._session,
                task=claim.task,
                run=claim.run,
                title=claim.statement,
                content=OpenThread(
                    text=claim.statement,
                    kind=claim.kind,
                    state=thread.state,
                    by=claim.by,
                    signal=claim.signal,
                    opened_at=claim.at,
                    closed_at=closed.at if closed is not None else None,
                    closed_by=closed.closed_by if closed is not None else None,
                ),
                provenance=_bounded(thread.places),
                builder=builder,
                at=closed.at if closed is not None else claim.at,
            )


def _closing(claim: Claim) -> Claim | None:
    return None if claim.state.is_open else claim


def _bounded(places: list[Provenance]) -> tuple[Provenance, ...]:
    unique = list(dict.fromkeys(places))
    if len(unique) <= _FIRST_PLACES + _LAST_PLACES:
        return tuple(unique)
    return (*unique[:_FIRST_PLACES], *unique[-_LAST_PLACES:])
