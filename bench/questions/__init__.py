"""How many questions about earlier sessions are answered by a pack, by one search, and by both: without a model.

The questions were written by hand over the transcripts, each with the lines that answer it. A question is the
description of a task: the pack for it, and the five best cards of a search for its words, are made out of the
memory of all sessions. It counts as answered if the words that the answer cannot do without stand in the text. The
transcripts are given by `--transcripts FOLDER` or `BLACKBIRD_TRANSCRIPTS`.
"""

import hashlib
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.material import memories, transcripts
from bench.material.transcripts import Transcript
from blackbird.pack.building import build
from blackbird.pack.model import Caps, Wanted
from blackbird.retrieve.model import Asked, Scope
from blackbird.retrieve.search import search
from blackbird.store.memory import Memory
from blackbird.tokens import Plain

QUESTIONS = Path(__file__).parent / "questions.toml"
ENVIRONMENT = "BLACKBIRD_TRANSCRIPTS"
BUDGETS = (400, 800, 1500)
CARDS = 5
TUNED = 2 / 3
PARTS = ("held back", "all")
_MARK = 8


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question, the lines of the session that answer it, and words that no answer can do without."""

    about: str
    session: str
    lines: tuple[int, int]
    mark: str
    asks: str
    keys: tuple[str, ...]

    def is_answered_by(self, text: str) -> bool:
        """Whether all keys stand in a text; of alternatives one."""
        plain = " ".join(text.split()).lower()
        return all(any(one.lower() in plain for one in key.split("|")) for key in self.keys)


class Score(msgspec.Struct):
    """How many questions were answered by one way to look, and how many tokens an answer took at the mean."""

    part: str
    way: str
    answered: dict[str, int]
    asked: dict[str, int]
    tokens: float


class QuestionsReport(msgspec.Struct):
    """Everything measured in one run; nothing without transcripts."""

    sessions: int = 0
    scores: list[Score] = []


class _Told(NamedTuple):
    question: Question
    is_held_back: bool
    text: str


def questions() -> tuple[Question, ...]:
    """All of them."""
    return msgspec.convert(tomllib.loads(QUESTIONS.read_text("utf-8"))["question"], tuple[Question, ...])


def measure(folders: Sequence[Path] = ()) -> QuestionsReport:
    """Ask all questions in all ways."""
    given = folders or [Path(one) for one in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if one]
    known = transcripts.read(given)
    if not known:
        return QuestionsReport()
    sessions = {transcript.session[:_MARK]: transcript for transcript in known}
    late = {one.session[:_MARK] for one in known[round(len(known) * TUNED) :]}
    asked = questions()
    for question in asked:
        _check(question, sessions[question.session])
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = memories.before(None, known, Path(folder))
        with memories.opened(home) as memory:
            scores = [
                score
                for way, answer in _ways(memory, known[-1].folder).items()
                for score in _scores(way, [_Told(one, one.session in late, answer(one.asks)) for one in asked])
            ]
    return QuestionsReport(len(known), sorted(scores, key=lambda score: PARTS.index(score.part)))


def _check(question: Question, transcript: Transcript) -> None:
    """The evidence is where the question says it is."""
    first, last = question.lines
    lines = transcript.path.read_text("utf-8").split("\n")[first - 1 : last]
    mark = hashlib.sha256(lines[0].strip().encode()).hexdigest()[:_MARK]
    if mark != question.mark or not question.is_answered_by("\n".join(lines)):
        raise ValueError(f"{question.session}:{first} does not answer: {question.asks}")


def _ways(memory: Memory, folder: str) -> dict[str, Callable[[str], str]]:
    """The ways to look for an answer: texts by questions."""
    ways: dict[str, Callable[[str], str]] = {"one search": lambda asks: _found(memory, asks)}

    def told(budget: int) -> Callable[[str], str]:
        return lambda asks: (
            build(memory, Wanted(folder=folder, description=asks, caps=Caps(total=budget)), Plain()).text
        )

    for budget in BUDGETS:
        ways[f"pack of {budget}"] = told(budget)
        ways[f"pack of {budget} and one search"] = lambda asks, budget=budget: (  # type: ignore[misc]
            f"{told(budget)(asks)}\n{_found(memory, asks)}"
        )
    return ways


def _found(memory: Memory, asks: str) -> str:
    """The cards of a search as an agent sees them."""
    found = search(memory, Asked(text=asks, scope=Scope(only=False), k=CARDS), Plain())
    return "\n".join(f"{card.title}\n{card.snippet}\n{' '.join(card.files)}" for card in found.cards)


def _scores(way: str, told: Sequence[_Told]) -> Iterator[Score]:
    counter = Plain()
    for part in PARTS:
        here = [one for one in told if part == "all" or one.is_held_back]
        kinds = [*dict.fromkeys(one.question.about for one in told), "all"]
        of_kind = {kind: [one for one in here if kind in (one.question.about, "all")] for kind in kinds}
        yield Score(
            part,
            way,
            {kind: sum(one.question.is_answered_by(one.text) for one in some) for kind, some in of_kind.items()},
            {kind: len(some) for kind, some in of_kind.items()},
            sum(counter.count(one.text) for one in here) / len(here),
        )


def as_markdown(report: QuestionsReport) -> str:
    """The tables of the README."""
    if not report.scores:
        return f"Not measured: `--transcripts FOLDER` or `{ENVIRONMENT}` names where the transcripts are."
    lines: list[str] = []
    for part in PARTS:
        here = [score for score in report.scores if score.part == part]
        kinds = [kind for kind in here[0].asked if kind != "all"]
        lines += [
            f"Questions {part}, answered out of the memory of {report.sessions} sessions:",
            "",
            "| | tokens | answered | " + " | ".join(f"{kind} ({here[0].asked[kind]})" for kind in kinds) + " |",
            "|---|---|---|" + "---|" * len(kinds),
            *(_row(score, kinds) for score in here),
            "",
        ]
    return "\n".join([*lines, _LIMITS])


def _row(score: Score, kinds: Sequence[str]) -> str:
    answered, asked = score.answered["all"], score.asked["all"]
    cells = " | ".join(str(score.answered[kind]) for kind in kinds)
    return f"| {score.way} | {score.tokens:.0f} | {answered} of {asked} ({answered / asked:.0%}) | {cells} |"


_LIMITS = """\
One hand wrote questions and keys, over one project; the keys are words of the answer as it was given, so an answer
in other words counts for nothing, and one whose words stand there by chance counts. Tokens are those of the plain
counter."""
