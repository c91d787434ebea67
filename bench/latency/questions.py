"""What is asked: as people and agents ask, of artifacts that are there."""

import random
import re

import msgspec

from bench.latency.world import ARTIFACTS_OF_A_SESSION, World
from blackbird.artifacts.model import Artifact, Outcome, Segment

_WORD = re.compile(r"[a-z]{4,}")


class Question(msgspec.Struct, frozen=True):
    """Some words, the artifact that they were taken from, and whose it is."""

    text: str
    id: str
    session: str
    task: str


def questions(world: World, artifacts: int, count: int, seed: int = 11) -> list[Question]:
    """So many questions, of all kinds in turn, each of another session as far as there are enough."""
    rng = random.Random(seed)
    numbers = range(artifacts // ARTIFACTS_OF_A_SESSION)
    chosen = rng.sample(numbers, count) if count <= len(numbers) else rng.choices(numbers, k=count)
    return [_question(rng, world.session(number)[1], at) for at, number in enumerate(chosen)]


def _question(rng: random.Random, artifacts: list[Artifact], at: int) -> Question:
    told = [one for one in artifacts if isinstance(one.content, Segment) and one.content.paths]
    done = [one for one in artifacts if isinstance(one.content, Outcome)]
    one = rng.choice(done if at % 4 == 2 and done else told)
    text = one.content.text if isinstance(one.content, Segment) else one.title
    words = _WORD.findall(text.lower())
    match at % 4:
        case 0:
            asked = " ".join(rng.sample(words, min(3, len(words))))
        case 1:
            path = one.content.paths[0] if isinstance(one.content, Segment) else ""
            asked = f"{path.rpartition('/')[2]} {rng.choice(words)}"
        case 2:
            symbol = one.content.files[0].symbols[0] if isinstance(one.content, Outcome) else rng.choice(words)
            asked = f"{symbol} error"
        case _:
            asked = f"what did we decide about the {rng.choice(words)} when the {rng.choice(words)} test was not done"
    return Question(asked, one.id, one.session, one.task or "")
