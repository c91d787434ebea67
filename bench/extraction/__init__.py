"""How often decisions, constraints and open threads in prose are recognised: precision and recall on labelled lines.

Beside ours, on the same lines in the same run: a plain search for cue words, as other memories do it. The labels of
real transcripts name lines by session and number, `labels/README.md` says how they were made; the transcripts
themselves are given by `--transcripts FOLDER` or `BLACKBIRD_TRANSCRIPTS`. The invented sentences need none.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench.extraction.cues import cue_types
from bench.extraction.labelled import Labelled, invented, labelled_lines, typed_share
from blackbird.artifacts.model import Type

OURS, CUES = "blackbird", "cue words"
TYPES = (Type.DECISION, Type.CONSTRAINT, Type.THREAD)
MERGED = "decision or constraint"
ENVIRONMENT = "BLACKBIRD_TRANSCRIPTS"
#: The parts of the labels, and what they are called in the tables.
PARTS = {"tuned": "tuned on", "held_back": "held back", "unseen": "never seen before"}


class Score(msgspec.Struct):
    """How one tool did for one type on one set of lines."""

    lines: str
    type: str
    tool: str
    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 0.0

    @property
    def recall(self) -> float:
        """The share of what is there that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


class Typed(msgspec.Struct):
    """Lines under the user's name: those the human typed, and those that only stand there."""

    lines: str
    typed: int
    typed_kept: int
    others: int
    others_kept: int


class ExtractionReport(msgspec.Struct):
    """Everything measured in one run. Without transcripts, on the invented sentences alone."""

    sizes: dict[str, int]
    scores: list[Score]
    typed: list[Typed]
    missing: list[str]


def measure(transcripts: Sequence[Path] = ()) -> ExtractionReport:
    """Hold both tools against the labels."""
    folders = transcripts or [Path(one) for one in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if one]
    sets: dict[str, list[Labelled]] = {}
    missing: list[str] = []
    typed: list[Typed] = []
    for part, title in PARTS.items():
        name = f"transcripts, {title}"
        if (lines := labelled_lines(folders, part)) is None:
            missing.append(name)
            continue
        sets[name] = lines
        typed.append(Typed(name, *typed_share(lines)))
    for part in ("tuned", "held_back"):
        sets[f"invented, {PARTS[part]}"] = invented(part)
    scores = [score for name, lines in sets.items() for score in _scores(name, lines)]
    return ExtractionReport({name: len(lines) for name, lines in sets.items()}, scores, typed, missing)


def _scores(name: str, lines: list[Labelled]) -> Iterator[Score]:
    for wanted, title in [*(((one,), str(one)) for one in TYPES), ((Type.DECISION, Type.CONSTRAINT), MERGED)]:
        for tool in (OURS, CUES):
            counts = Counter(
                _verdict(line, line.found if tool == OURS else cue_types(line.text), wanted) for line in lines
            )
            yield Score(name, title, tool, counts["right"], counts["wrong"], counts["missed"])


def _verdict(line: Labelled, found: Iterable[str], wanted: tuple[Type, ...]) -> str:
    is_found = any(one in wanted for one in found)
    is_there = line.type in wanted
    return "right" if is_found and is_there else "wrong" if is_found else "missed" if is_there else "none"


def as_markdown(report: ExtractionReport) -> str:
    """The tables of the README."""
    sizes = ", ".join(f"{name}: {size}" for name, size in report.sizes.items())
    lines = [
        f"Labelled lines: {sizes}. A line counts as found when a quote of the right type overlaps it.",
        "",
        "| lines | type | there | tool | precision | recall | F1 |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {score.lines} | {score.type.replace('_', ' ')} | {score.right + score.missed} | {score.tool} "
            f"| {score.precision:.2f} | {score.recall:.2f} | {score.f1:.2f} |"
            for score in report.scores
        ),
        "",
    ]
    if report.missing:
        missing = "; ".join(report.missing)
        lines += [
            f"Not measured ({missing}): `--transcripts FOLDER` or `{ENVIRONMENT}` names where the transcripts are.",
            "",
        ]
    for typed in report.typed:
        kept = f"{typed.typed_kept} of {typed.typed} typed lines were taken for typed"
        others = f"{typed.others_kept} of {typed.others} others"
        lines += [f"Under the user's name in {typed.lines}: {kept}, and {others}.", ""]
    return "\n".join([*lines, _LIMITS])


_LIMITS = """\
One reader labelled the lines and marked 81 of 1,181 labels as doubtful. The same reader wrote the patterns after
the lines of the first two parts had been labelled, looking at the first part alone: the second was held back, but
read once. The third was drawn and labelled when the patterns were done, and led to no change of them. All
transcripts are of one project and mostly of one human. The invented sentences were written by the same hand as the
patterns: they guard against steps back, and say little about other people's words."""
