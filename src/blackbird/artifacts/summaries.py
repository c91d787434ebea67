"""A session in some lines: its goal, its tasks with their ends, what was decided and what is left."""

from collections import Counter
from collections.abc import Sequence

from blackbird.artifacts import quotes, shortening
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
from blackbird.timeline import statements
from blackbird.timeline.timeline import Stated

_BULLETS = 12
_PLACES = 12
_CHECKPOINT = 4000


def summary(scene: Scene, artifacts: Sequence[Artifact], builder: str) -> Artifact | None:
    """The summary of what the other artifacts and the harness say; nothing of a session that left none."""
    told = {event: _last(scene, event) for event in (statements.GOAL, statements.CHECKPOINT)}
    known = [stated for stated in told.values() if stated is not None]
    planned = [one for one in scene.stated if one.event == statements.TASK_ADD and one.task is not None]
    told_by = (*(quotes.of_statement(one) for one in known), *_places(artifacts))
    places = (*told_by, *(quotes.of_statement(one) for one in planned))[:_PLACES]
    if not places:
        return None
    counts = Counter(str(artifact.type) for artifact in artifacts)
    outcomes = [artifact for artifact in artifacts if isinstance(artifact.content, Outcome)]
    ran = [one.task for one in outcomes]
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
            checkpoint=_text(told[statements.CHECKPOINT]),
            bullets=tuple(bullets[:_BULLETS]),
            tasks=tuple(dict.fromkeys(name for name in (*ran, *(one.task for one in planned)) if name is not None)),
            counts=dict(sorted(counts.items())),
        ),
        provenance=places,
        builder=builder,
        at=max(
            (
                at
                for at in [*(one.at for one in artifacts), *(one.at for one in (*known, *planned))]
                if at is not None
            ),
            default=None,
        ),
    )


def _last(scene: Scene, event: str) -> Stated | None:
    """The last statement of a kind that has words."""
    return next((one for one in reversed(scene.stated) if one.event == event and _text(one)), None)


def _text(stated: Stated | None) -> str | None:
    text = stated.data.get("text") if stated is not None else None
    return text.strip()[:_CHECKPOINT] or None if isinstance(text, str) else None


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
    return tuple(dict.fromkeys(first)) or tuple(artifact.provenance[0] for artifact in artifacts[:1])
