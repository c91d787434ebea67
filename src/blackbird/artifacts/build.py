"""From a timeline to its artifacts: each extractor in turn, then what they found held against each other."""

from collections.abc import Iterator, Sequence

import msgspec

from blackbird.artifacts import closing, facts, outcomes, segments, summaries, work
from blackbird.artifacts.claims import Claim
from blackbird.artifacts.consolidate import consolidate
from blackbird.artifacts.model import Artifact, Change, Decision, Outcome, Signal, Status, ThreadKind, Type
from blackbird.artifacts.outcomes import Verdict
from blackbird.artifacts.scene import Deed, Scene
from blackbird.artifacts.signals import plans, questions, tasks, words
from blackbird.artifacts.version import builder_version
from blackbird.artifacts.work import Act
from blackbird.timeline.timeline import Timeline


class Builder:
    """Builds the artifacts of one session; what did not change since the last time is not read again."""

    def __init__(self) -> None:
        self._acts: dict[str, tuple[Deed, Act]] = {}
        self._words = words.Memory()
        self._version = builder_version()

    def artifacts(self, timeline: Timeline) -> list[Artifact]:
        """All artifacts, those of one kind together; the same timeline always gives the same ones."""
        scene = Scene(timeline)
        done = work.acts(scene, self._acts)
        claimed = [*questions.claims(scene), *plans.claims(scene), *tasks.claims(scene), *self._words.claims(scene)]
        rulings = consolidate(scene.session, claimed, self._version)
        decisions = [one for one in rulings if one.type is Type.DECISION]
        ended = [
            _with_causes(one, decisions)
            for one in outcomes.outcomes(scene, done, self._version, list(_blocked(scene, claimed, done)))
        ]
        rulings = list(closing.closed(rulings, ended))
        found = [*ended, *rulings, *facts.facts(scene, done, self._version)]
        told = summaries.summary(scene, found, self._version)
        return [*found, *([told] if told is not None else []), *segments.segments(scene, self._version)]


def _blocked(scene: Scene, claims: Sequence[Claim], done: Sequence[Act]) -> Iterator[Verdict]:
    """Questions that nobody answered and blockers that were named, at the end of what was done.

    A question in an agent's last words is no obstacle if what was to be done went well before it.
    """
    succeeded = max((scene.order[act.call.id] for act in done if act.verdict is True), default=-1)
    told = max((scene.order[item.id] for item in scene.items if scene.is_human(item)), default=-1)
    last = {
        claim.normal: claim for claim in sorted(claims, key=lambda claim: claim.order) if claim.type is Type.THREAD
    }
    for claim in last.values():
        is_obstacle = claim.kind in (ThreadKind.QUESTION, ThreadKind.BLOCKER) and claim.state.is_open
        is_courtesy = claim.signal is not Signal.STRUCTURED and succeeded > told
        if is_obstacle and not is_courtesy and claim.provenance:
            kind = "an open question" if claim.kind is ThreadKind.QUESTION else "a blocker"
            yield Verdict(Status.BLOCKED, f"{kind}: {claim.statement}", claim.provenance[0], claim.order)


def _with_causes(artifact: Artifact, decisions: Sequence[Artifact]) -> Artifact:
    """The outcome with each file linked to the last decision that names it."""
    content = artifact.content
    if not isinstance(content, Outcome) or not decisions:
        return artifact
    files = tuple(_caused(change, decisions) for change in content.files)
    return msgspec.structs.replace(artifact, content=msgspec.structs.replace(content, files=files))


def _caused(change: Change, decisions: Sequence[Artifact]) -> Change:
    names = {change.path, change.path.rpartition("/")[2], *change.symbols}
    for artifact in reversed(decisions):
        content = artifact.content
        if isinstance(content, Decision) and any(_names(content.statement, name) for name in names):
            return msgspec.structs.replace(change, decision=artifact.id)
    return change


def _names(text: str, name: str) -> bool:
    """Whether a text has the name as a word of its own."""
    at = text.find(name) if name else -1
    while at >= 0:
        before, behind = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", "/")) and not (behind.isalnum() or behind == "_"):
            return True
        at = text.find(name, at + 1)
    return False
