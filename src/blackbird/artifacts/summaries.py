"""A session in some lines: its goal, its tasks with their ends, what was decided and what is left."""

from collections import Counter
from collections.abc import Sequence

from blackbird.artifacts import shortening
from blackbird.artifacts.model import (
    Artifact,
    Constraint,
    Decision,
    OpenThread,
    Outcome,
    Provenance,
    Summary,
    Type,
    artifact_id,
)
from blackbird.artifacts.scene import Scene

_BULLETS = 12
_PLACES = 12


def summary(scene: Scene, artifacts: Sequence[Artifact], builder: str) -> Artifact | None:
    """The summary of what the other artifacts say; nothing of a session that left none."""
    places = _places(artifacts)
    if not places:
        return None
    counts = Counter(str(artifact.type) for artifact in artifacts)
    outcomes = [artifact for artifact in artifacts if isinstance(artifact.content, Outcome)]
    bullets = [_told(artifact) for artifact in artifacts if _is_telling(artifact)]
    goal = scene.about.goal or next(
        (one.content.description for one in outcomes if isinstance(one.content, Outcome)), None
    )
    return Artifact(
        id=artifact_id(Type.SUMMARY, scene.session),
        type=Type.SUMMARY,
        session=scene.session,
        title=shortening.one_line(scene.about.title or goal or scene.session, 120),
        content=Summary(
            goal=goal,
            bullets=tuple(bullets[:_BULLETS]),
            tasks=tuple(dict.fromkeys(one.task for one in outcomes if one.task is not None)),
            counts=dict(sorted(counts.items())),
        ),
        provenance=places,
        builder=builder,
        at=max((artifact.at for artifact in artifacts if artifact.at is not None), default=None),
    )


def _is_telling(artifact: Artifact) -> bool:
    match artifact.content:
        case Outcome():
            return True
        case Decision() | Constraint():
            return artifact.content.is_active
        case OpenThread():
            return artifact.content.state.is_open
        case _:
            return False


def _told(artifact: Artifact) -> str:
    content = artifact.content
    if isinstance(content, Outcome):
        return shortening.one_line(f"{content.status}: {artifact.title}")
    return shortening.one_line(f"{artifact.type.replace('_', ' ')}: {artifact.title}")


def _places(artifacts: Sequence[Artifact]) -> tuple[Provenance, ...]:
    first = (artifact.provenance[0] for artifact in artifacts if _is_telling(artifact))
    places = tuple(dict.fromkeys(first)) or tuple(artifact.provenance[0] for artifact in artifacts[:1])
    return places[:_PLACES]
