"""What says the same: a card of it is enough, however many sessions said it."""

from blackbird.artifacts import prose
from blackbird.artifacts.model import Artifact, Constraint, Decision, OpenThread, Segment
from blackbird.store.texts import said


def key(artifact: Artifact) -> tuple[str, ...]:
    """The same for artifacts of a type that say the same in other spellings.

    A piece of a transcript is itself alone: "yes" is another answer wherever it is given.
    """
    match artifact.content:
        case Segment():
            return (artifact.id,)
        case Decision(statement=text) | Constraint(statement=text) | OpenThread(text=text):
            return (artifact.type, prose.normal(text))
        case _:
            return (artifact.type, said(artifact).text)
