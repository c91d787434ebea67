"""The conversations of LoCoMo: turns with their speakers and dates, and questions with the turns that answer them."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

CATEGORIES = {4: "single-hop", 2: "temporal", 1: "multi-hop", 3: "open", 5: "adversarial"}
_SESSION = re.compile(r"^session_(\d+)$")
_TURN = re.compile(r"D(\d+):(\d+)")


class Turn(NamedTuple):
    """What one of the two said, with the caption of a picture that was shown with it."""

    session: int
    speaker: str
    date: str
    text: str

    @property
    def at(self) -> int:
        """When, in nanoseconds since 1970."""
        when = datetime.strptime(self.date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        return int(when.timestamp()) * 1_000_000_000


class Question(NamedTuple):
    """A question, and the numbers of the turns that answer it."""

    text: str
    category: str
    evidence: frozenset[int]


class Conversation(NamedTuple):
    """All that two people said, and what is asked about it."""

    turns: list[Turn]
    questions: list[Question]


def read(path: Path) -> list[Conversation]:
    """The conversations of a file. Questions without any evidence that is there are left out."""
    return [_conversation(each) for each in msgspec.json.decode(path.read_bytes())]


def _conversation(found: dict[str, Any]) -> Conversation:
    talk = found["conversation"]
    turns: list[Turn] = []
    numbers: dict[tuple[int, int], int] = {}
    for session in sorted(int(match[1]) for key in talk if (match := _SESSION.match(key))):
        for turn in talk[f"session_{session}"]:
            place = _TURN.fullmatch(turn["dia_id"])
            if place is not None:
                numbers[int(place[1]), int(place[2])] = len(turns)
            text = " ".join(part for part in (turn["text"], turn.get("blip_caption")) if part)
            turns.append(Turn(session, turn["speaker"], talk[f"session_{session}_date_time"], text))
    questions = []
    for asked in found["qa"]:
        places = [(int(a), int(b)) for one in asked["evidence"] for a, b in _TURN.findall(one)]
        evidence = frozenset(numbers[place] for place in places if place in numbers)
        if evidence:
            questions.append(Question(asked["question"], CATEGORIES[asked["category"]], evidence))
    return Conversation(turns, questions)
