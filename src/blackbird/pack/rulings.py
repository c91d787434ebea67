"""Decisions and constraints that hold, each once: what was superseded, here or in a later session, is left out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from blackbird.artifacts import prose
from blackbird.artifacts.model import Artifact, Constraint, Decision, Reach, Signal, Speaker, Type
from blackbird.pack import relevance
from blackbird.pack.marking import quoted
from blackbird.pack.material import Candidate, Choice, Material
from blackbird.pack.model import LeftOut

_LENGTHS = (240, 120, 60)
#: So many of the best may be shortened to fit; no section has room for more.
_TRIED = 60
#: What was chosen in so many words is trusted more than what an agent says in passing.
_TRUST = {Signal.STRUCTURED: 1.0, Signal.IMPERATIVE: 0.7, Signal.PROSE: 0.0}
_SAID_OFTEN = 3


class _Held(NamedTuple):
    """A ruling that holds, with those that say the same."""

    artifact: Artifact
    content: Decision | Constraint
    same: tuple[str, ...]


def decisions(material: Material) -> Choice:
    """What was settled and still holds."""
    return _choice(material, Type.DECISION, "decisions", "Decisions", _decided)


def constraints(material: Material) -> Choice:
    """What must be or must not: for the session, or for this very task."""
    return _choice(material, Type.CONSTRAINT, "constraints", "Constraints", _required)


def _choice(
    material: Material, kind: Type, name: str, title: str, told: Callable[[Decision | Constraint], str]
) -> Choice:
    left_out: list[LeftOut] = []
    held = _held(material, kind, name, left_out)
    ages = relevance.ages([one.artifact.at for one in held])
    ranked = []
    for one, age in zip(held, ages, strict=True):
        text = told(one.content)
        weight = relevance.weigh(material.ahead, text, age=age, task_id=one.artifact.task)
        is_other = material.is_other(one.artifact)
        score = (is_other, -(weight.score + _TRUST[one.content.signal]), -(one.artifact.at or 0), one.artifact.id)
        ranked.append((score, one, text, (*_reasons(one.content), *weight.why)))
    ranked.sort(key=lambda each: each[0])
    candidates = [
        _candidate(one, text, why, _LENGTHS if place < _TRIED else _LENGTHS[:1], is_other=score[0])
        for place, (score, one, text, why) in enumerate(ranked)
    ]
    return Choice(name, title, candidates, left_out)


def _candidate(one: _Held, text: str, why: Iterable[str], lengths: Sequence[int], *, is_other: bool) -> Candidate:
    return Candidate(
        ids=(one.artifact.id, *one.same)[:2],
        forms=tuple(dict.fromkeys(quoted(text, longest) for longest in lengths)),
        why="; ".join(why),
        session=one.artifact.session if is_other else None,
    )


def _reasons(content: Decision | Constraint) -> Iterator[str]:
    yield "it holds"
    yield "the user chose it" if content.signal is Signal.STRUCTURED else f"the {content.by} said it"
    if content.times >= _SAID_OFTEN:
        yield f"said {content.times} times"


def _decided(content: Decision | Constraint) -> str:
    """A decision, with its reason if there is one that it does not say itself."""
    is_said = content.rationale is None or content.rationale.rstrip(".") in content.statement
    return content.statement if is_said else f"{content.statement} ({content.rationale})"


def _required(content: Decision | Constraint) -> str:
    is_local = isinstance(content, Constraint) and content.reach is Reach.TASK
    return f"{content.statement} (this task only)" if is_local else content.statement


def _held(material: Material, kind: Type, section: str, left_out: list[LeftOut]) -> list[_Held]:
    """Those that hold, newest first within the session, then those of others; each once."""
    kept: dict[tuple[str, ...], _Held] = {}
    subjects: dict[str | None, list[_Held]] = {}
    overridden = _overridden(material)
    for artifact, content in _in_order(material, kind):
        key = _key(content)
        why = _refused(material, artifact, content, overridden)
        if why is None and key in kept:
            kept[key] = kept[key]._replace(same=(*kept[key].same, artifact.id))
            why = f"the same as {kept[key].artifact.id}"
        if why is None and material.is_other(artifact):
            # Who goes back to what was before, or turns something down, may not say again what it is for.
            rivals = [*subjects.get(content.subject, ()), *(subjects.get(None, ()) if content.subject else ())]
            rival = next((one for one in rivals if _settles(one, artifact, content)), None)
            why = f"{rival.artifact.id} settles the same later" if rival is not None else None
        if why is None:
            kept[key] = _Held(artifact, content, ())
            subjects.setdefault(content.subject, []).append(kept[key])
        else:
            left_out.append(LeftOut(id=artifact.id, section=section, title=quoted(artifact.title, 120), why=why))
    return list(kept.values())


def _in_order(material: Material, kind: Type) -> list[tuple[Artifact, Decision | Constraint]]:
    """Those of the session first, then those of others; in each the newest first."""
    found: list[tuple[Artifact, Decision | Constraint]] = [
        (artifact, artifact.content)
        for artifact in material.every()
        if artifact.type is kind and isinstance(artifact.content, Decision | Constraint)
    ]
    return sorted(found, key=lambda pair: (material.is_other(pair[0]), -(pair[0].at or 0), pair[0].id))


def _refused(
    material: Material, artifact: Artifact, content: Decision | Constraint, overridden: frozenset[str]
) -> str | None:
    """Why something does not hold for the task ahead; nothing if it does."""
    if not content.is_active:
        return f"superseded by {content.superseded_by}" if content.superseded_by else "no longer holds"
    is_local = isinstance(content, Constraint) and content.reach is Reach.TASK
    if is_local and (material.is_other(artifact) or artifact.task != material.wanted.task):
        return f"for the task {artifact.task} alone" if artifact.task else "for another task alone"
    if artifact.id in overridden:
        return "one of this task goes before it"
    return None


def _overridden(material: Material) -> frozenset[str]:
    """Session-wide constraints that one of this very task goes before."""
    return frozenset(
        other
        for artifact in material.own
        if isinstance(artifact.content, Constraint) and artifact.content.is_active
        if artifact.content.reach is Reach.TASK and artifact.task == material.wanted.task
        for other in artifact.content.overrides
    )


def _settles(held: _Held, artifact: Artifact, content: Decision | Constraint) -> bool:
    """Whether what is kept of the same subject leaves no room for this of another session.

    An agent's word in passing undoes no user's.
    """
    other = held.content
    if held.artifact.session == artifact.session:
        return False
    if content.by is Speaker.USER and other.by is Speaker.AGENT and other.signal is Signal.PROSE:
        return False
    if other.choice is None or content.choice is None:
        return False
    if (
        isinstance(other, Decision)
        and other.alternatives
        and prose.key(content.choice) in map(prose.key, other.alternatives)
    ):
        return _must(content)
    if content.subject is None or other.subject is None:
        return False
    is_same = prose.key(other.choice) == prose.key(content.choice)
    return not is_same if _must(other) and _must(content) else is_same and _must(other) is not _must(content)


def _must(content: Decision | Constraint) -> bool:
    return content.must if isinstance(content, Constraint) else True


def _key(content: Decision | Constraint) -> tuple[str, ...]:
    if content.subject is not None and content.choice is not None:
        return ("subject", content.subject, prose.key(content.choice), str(_must(content)))
    return ("words", prose.normal(content.statement))
