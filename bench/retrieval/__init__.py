"""How well turns of long conversations are found by questions about them: recall of the evidence, without a model.

The conversations and questions are LoCoMo's (Maharana et al., 2024), given by `--locomo FILE` or `BLACKBIRD_LOCOMO`;
nothing of them is in this repository. Each conversation is a session of the memory, each turn a piece of its
transcript, and each question one search within the session: the same store and the same search that agents use.
Beside it, on the same turns in the same run: plain FTS5, and the best of the lexical variants that were tried before.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench.retrieval.conversations import CATEGORIES, Conversation, read
from bench.retrieval.searchers import Search, best_lexical, blackbird, plain

ENVIRONMENT = "BLACKBIRD_LOCOMO"
DEPTHS = (5, 10, 20)
OURS, PLAIN, BEST = "blackbird", "plain FTS5", "best lexical variant"
SEARCHERS: dict[str, Callable[[Conversation, Path], Search]] = {PLAIN: plain, BEST: best_lexical, OURS: blackbird}
#: The weights were chosen by the first conversations of a file alone.
TUNED = 2
PARTS = {"all": slice(None), "tuned on": slice(TUNED), "held out": slice(TUNED, None)}


class Score(msgspec.Struct):
    """The mean share of a question's evidence that is found, in percent, at each depth."""

    tool: str
    part: str
    category: str
    questions: int
    recall: list[float]


class Taken(msgspec.Struct):
    """How long a search took, in milliseconds."""

    tool: str
    median: float
    p95: float


class RetrievalReport(msgspec.Struct):
    """Everything measured in one run; nothing without the conversations."""

    conversations: int = 0
    turns: int = 0
    scores: list[Score] = []
    taken: list[Taken] = []

    def points(self, part: str) -> list[float]:
        """How many points blackbird is above the best variant at each depth."""
        ours, best = (
            next(score for score in self.scores if (score.tool, score.part, score.category) == (tool, part, "all"))
            for tool in (OURS, BEST)
        )
        return [a - b for a, b in zip(ours.recall, best.recall, strict=True)]


class _Answer(msgspec.Struct):
    conversation: int
    category: str
    recall: list[float]
    seconds: float


def measure(files: Sequence[Path] = ()) -> RetrievalReport:
    """Ask every question of every conversation."""
    named = files or [Path(one) for one in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if one]
    conversations = [each for path in named for each in read(path)]
    if not conversations:
        return RetrievalReport()
    scores: list[Score] = []
    taken: list[Taken] = []
    for tool, searcher in SEARCHERS.items():
        answers = list(_answers(searcher, conversations))
        scores += _scores(tool, answers, len(conversations))
        times = sorted(answer.seconds * 1000 for answer in answers)
        taken.append(Taken(tool, times[len(times) // 2], times[len(times) * 95 // 100]))
    return RetrievalReport(len(conversations), sum(len(each.turns) for each in conversations), scores, taken)


def _answers(
    searcher: Callable[[Conversation, Path], Search], conversations: Sequence[Conversation]
) -> Iterator[_Answer]:
    for number, conversation in enumerate(conversations):
        with tempfile.TemporaryDirectory() as folder:
            search = searcher(conversation, Path(folder))
            for question in conversation.questions:
                began = time.perf_counter()
                found = search(question.text, max(DEPTHS))
                seconds = time.perf_counter() - began
                shares = [
                    100 * len(question.evidence & {*found[:depth]}) / len(question.evidence) for depth in DEPTHS
                ]
                yield _Answer(number, question.category, shares, seconds)


def _scores(tool: str, answers: Sequence[_Answer], count: int) -> Iterator[Score]:
    for part, chosen in PARTS.items():
        within = set(range(count)[chosen])
        for category in ("all", *CATEGORIES.values()) if part == "all" else ("all",):
            found = [
                answer.recall
                for answer in answers
                if answer.conversation in within and category in ("all", answer.category)
            ]
            if found:
                recall = [sum(column) / len(found) for column in zip(*found, strict=True)]
                yield Score(tool, part, category, len(found), recall)


def as_markdown(report: RetrievalReport) -> str:
    """The table of the README."""
    if not report.scores:
        return f"Not measured: `--locomo FILE` or `{ENVIRONMENT}` names where the conversations are.\n"
    questions = next(score.questions for score in report.scores)
    lines = [
        f"{report.conversations} conversations, {report.turns} turns, {questions} questions; the mean share of a",
        "question's evidence among the first 5, 10 and 20 turns found, in percent.",
        "",
        "| questions | " + " | ".join(f"{tool}, R@5 / 10 / 20" for tool in SEARCHERS) + " |",
        "|---|" + "---|" * len(SEARCHERS),
        *(
            f"| {_titled(score)} | {' | '.join(_row(report, score))} |"
            for score in report.scores
            if score.tool == OURS
        ),
        "",
        "A search took "
        + "; ".join(f"{each.median:.1f} ms ({each.p95:.1f} at p95) with {each.tool}" for each in report.taken)
        + ".",
        "",
    ]
    return "\n".join([*lines, _LIMITS])


def _titled(score: Score) -> str:
    named = score.category if score.part == "all" and score.category != "all" else score.part
    return f"{named} ({score.questions})"


def _row(report: RetrievalReport, of: Score) -> Iterator[str]:
    for tool in SEARCHERS:
        found = next(
            score
            for score in report.scores
            if (score.tool, score.part, score.category) == (tool, of.part, of.category)
        )
        yield " / ".join(f"{share:.1f}" for share in found.recall)


_LIMITS = """\
These are talks between two people and not sessions of agents, and what is measured is whether the right turns are
found, not whether an answer would be right. The best lexical variant is FTS5 with stems over date, speaker and turn,
joined by reciprocal rank (60) with one over each turn and its two neighbours. What counts at all (neighbours by their
distance, each word up to a limit) was found with four conversations in view, and so was how little age counts; how
much neighbours and repetition count was then chosen by the first two of them alone. So the held-out rows say more
than the tuned ones, and less than conversations that nobody had seen."""
