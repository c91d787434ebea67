"""The rest of a pack: its goal, what is known of the project, what is open, and where to read on."""

from collections.abc import Collection, Iterable, Sequence

from blackbird.artifacts import prose
from blackbird.artifacts.model import Artifact, Fact, OpenThread, Summary, ThreadKind, Type
from blackbird.pack import planning, relevance
from blackbird.pack.marking import quoted
from blackbird.pack.material import Candidate, Choice, Material
from blackbird.pack.model import LeftOut

_GOAL = (400, 200, 100, 60, 36)
_LENGTHS = (200, 100, 60)
_POINTED = 48
#: What is dropped is dropped in order of its worth: what comes behind so many is pointed to by none.
_CONSIDERED = 200
_FACTS = {
    "language": "languages",
    "tool": "tools",
    "layout": "folders",
}
#: Told where the section of files and commands is switched off.
_COMMANDS = {"test_command": "test", "build_command": "build", "lint_command": "lint", "run_command": "run"}
_NAMED_FACTS = 5
#: What it adds to the weight of a pointer that something is of this type.
_TYPES = {Type.DECISION: 1.5, Type.CONSTRAINT: 1.5, Type.OUTCOME: 1.0, Type.THREAD: 1.0, Type.SUMMARY: 0.5}


def goal(material: Material) -> Choice:
    """What the session is for, and what the task ahead is in its plan."""
    summary = planning.summary_of(material)
    ahead = planning.task_ahead(material)
    stated = material.note.goal if material.note is not None else None
    words = stated or (summary.content.goal if summary is not None and isinstance(summary.content, Summary) else None)
    if words is None:
        return Choice("goal", "Goal", (ahead,) if ahead is not None else ())
    ids = (summary.id,) if summary is not None else ()
    why = "it was stated" if stated else "it is what was asked first"
    # A line is kept for what the plan says.
    lengths = _GOAL if ahead is None else _GOAL[2:]
    forms = tuple(dict.fromkeys(quoted(words, longest) for longest in lengths))
    return Choice("goal", "Goal", [Candidate(ids, forms, why), *([ahead] if ahead is not None else [])])


def facts(material: Material) -> Choice:
    """What is known of the project: a line for each kind, those that were met most often first."""
    met: dict[str, dict[str, list[Artifact]]] = {}
    titles = _FACTS if material.wanted.caps.files else _COMMANDS | _FACTS
    for artifact in material.every():
        if isinstance(artifact.content, Fact) and artifact.content.name in titles:
            met.setdefault(artifact.content.name, {}).setdefault(artifact.content.value, []).append(artifact)
    candidates, left_out = [], []
    for name, title in titles.items():
        values = sorted(met.get(name, {}).items(), key=_rank)
        if not values:
            continue
        shown = values[:_NAMED_FACTS]
        newest = [_newest(artifacts) for _, artifacts in shown]
        forms = [", ".join(quoted(value, 80) for value, _ in shown[:most]) for most in (len(shown), 3, 1)]
        is_other = all(material.is_other(artifact) for artifact in newest)
        candidates.append(
            Candidate(
                ids=tuple(dict.fromkeys(artifact.id for artifact in newest))[:2],
                forms=tuple(dict.fromkeys(f"{title}: {form}" for form in forms)),
                why=_met(one for _, group in values for one in group),
                session=newest[0].session if is_other else None,
            )
        )
        left_out += [
            LeftOut(
                id=_newest(group).id, section="facts", title=quoted(f"{title}: {value}", 120), why="met less often"
            )
            for value, group in values[_NAMED_FACTS:]
        ]
    return Choice("facts", "Project", candidates, left_out)


def _met(artifacts: Iterable[Artifact]) -> str:
    count = len({one.session for one in artifacts})
    return f"met in {count} session{'s' * (count > 1)}"


def _rank(entry: tuple[str, list[Artifact]]) -> tuple[int, int, str]:
    value, artifacts = entry
    times = sum(one.content.times for one in artifacts if isinstance(one.content, Fact))
    return -len(artifacts), -times, value


def _newest(artifacts: Sequence[Artifact]) -> Artifact:
    return max(artifacts, key=lambda artifact: (artifact.at or 0, artifact.id))


def open_threads(material: Material) -> Choice:
    """What is left to do, to answer or to clear away."""
    candidates, left_out = [], []
    known: dict[str, Artifact] = {}
    threads = [one for one in material.every() if isinstance(one.content, OpenThread)]
    threads.sort(key=lambda one: (material.is_other(one), -(one.at or 0), one.id))
    for artifact, age in zip(threads, relevance.ages([one.at for one in threads]), strict=True):
        content = artifact.content
        if not isinstance(content, OpenThread):
            continue
        key = prose.normal(content.text)
        first = known.setdefault(key, artifact)
        why = str(content.state) if not content.state.is_open else ""
        if first is not artifact:
            why = f"the same as {first.id}"
        if why:
            left_out.append(LeftOut(id=artifact.id, section="open_threads", title=quoted(content.text, 120), why=why))
            continue
        weight = relevance.weigh(material.ahead, content.text, age=age, task_id=artifact.task)
        is_other = material.is_other(artifact)
        kind = "" if content.kind is ThreadKind.TODO else f"{content.kind}: "
        candidate = Candidate(
            ids=(artifact.id,),
            forms=tuple(dict.fromkeys(f"{kind}{quoted(content.text, longest)}" for longest in _LENGTHS)),
            why="; ".join((f"it is {content.state.replace('_', ' ')}", *weight.why)),
            session=artifact.session if is_other else None,
        )
        is_blocker = content.kind is ThreadKind.BLOCKER
        candidates.append(((is_other, not is_blocker, -weight.score, artifact.id), candidate))
    candidates.sort(key=lambda pair: pair[0])
    planned = planning.beside(material)
    found = [*([planned] if planned is not None else []), *(candidate for _, candidate in candidates)]
    return Choice("open_threads", "Open", found, left_out)


def pointers(material: Material, told: Collection[str], dropped: Iterable[str]) -> Choice:
    """Where to read on: what did not fit, what has most to do with the task first, and other sessions as a whole."""
    every = {artifact.id: artifact for artifact in material.every()}
    summaries = [one.id for one in every.values() if one.type is Type.SUMMARY]
    wanted = [one for one in dict.fromkeys((*dropped, *summaries)) if one in every and one not in told]
    chosen = [every[one] for one in wanted[:_CONSIDERED]]
    ages = relevance.ages([artifact.at for artifact in chosen])
    ranked = []
    for artifact, age in zip(chosen, ages, strict=True):
        weight = relevance.weigh(material.ahead, artifact.title, age=age, task_id=artifact.task)
        is_other = material.is_other(artifact)
        why = "a session as a whole" if artifact.type is Type.SUMMARY else "no room in its section"
        candidate = Candidate(
            ids=(artifact.id,),
            forms=(f"{artifact.type.replace('_', ' ')}: {quoted(artifact.title, _POINTED)}",),
            why="; ".join((why, *weight.why)),
            session=artifact.session if is_other else None,
        )
        score = weight.score + _TYPES.get(artifact.type, 0.0)
        ranked.append(((is_other, -score, artifact.id), candidate))
    ranked.sort(key=lambda pair: pair[0])
    return Choice("pointers", "More", [candidate for _, candidate in ranked])
