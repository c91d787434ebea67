"""Packs to compare: those of the product, and what could be given in their place for so many characters."""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import apsw

from bench.material import memories, transcripts
from bench.material.transcripts import Transcript
from bench.rediscovery.history import Items, Past, Session
from blackbird.pack.building import build
from blackbird.pack.model import Caps, Wanted

LETTERS_A_TOKEN = 4
LISTED = ("files", "commands")
_LONGEST_LINE, _GIVING_UP = 400, 40
_TURNS, _FOUND, _WORDS = 600, 400, 40
_WORD = re.compile(r"[A-Za-z0-9_]{3,}")
_STOPPED = frozenset(
    _WORD.findall(
        "the and but for with from are was were been its this that these those you they she does did not yes can"
        " could should would will may might let lets our your then than there here what which who how when where why"
        " all any some just like also into out down over about okay please want need make take look get got have"
        " has had"
    )
)


class Quarter:
    """Counts as the scores do: four characters are a token."""

    name = "characters/4"

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        return math.ceil(len(text) / LETTERS_A_TOKEN)


def fill(lines: Iterable[str], room: int) -> str:
    """The lines that fit, each cut if it is very long."""
    found: list[str] = []
    used = 0
    for line in (line.strip()[:_LONGEST_LINE] for line in lines if line.strip()):
        if used + len(line) + 1 <= room:
            found.append(line)
            used += len(line) + 1
        elif room - used < _GIVING_UP:
            break
    return "\n".join(found)


def plain(session: Session, past: Past, items: Items, budget: int) -> dict[str, str]:
    """What needs no memory, by name."""
    room = budget * LETTERS_A_TOKEN
    return {
        "nothing": "",
        "last turns": fill(reversed(past.turns[-_TURNS:]), room),
        "FTS5, best lines": fill(_best_lines(session.first_message(), past), room),
        "most frequent files and commands": _listed(past, room, lambda key: (-past.uses[key], key[1])),
        "most recent files and commands": _listed(past, room, lambda key: -past.last[key]),
        "oracle": fill(sorted((name for names in items.values() for name in names), key=len), room),
    }


def _listed(past: Past, room: int, rank: Callable[[tuple[str, str]], Any]) -> str:
    """Half of the room for files, half for commands."""
    ranked = sorted(past.uses, key=rank)
    return "\n".join(fill((name for known, name in ranked if known == kind), room // 2) for kind in LISTED)


def _best_lines(message: str, past: Past) -> list[str]:
    words = [word for word in dict.fromkeys(_WORD.findall(message.lower())) if word not in _STOPPED]
    if not words:
        return []
    database = apsw.Connection(":memory:")
    database.execute("create virtual table line using fts5(text, tokenize='porter unicode61')")
    database.executemany("insert into line values(?)", [(line[:_LONGEST_LINE],) for line in past.lines])
    match = " OR ".join(f'"{word}"' for word in words[:_WORDS])
    query = f"select text from line where line match ? order by rank limit {_FOUND}"  # noqa: S608 - a number of ours
    found = [row[0] for row in database.execute(query, (match,))]
    database.close()
    return list(dict.fromkeys(found))


def packs(session: Session, known: Iterable[Transcript], budgets: Iterable[int], folder: Path) -> dict[int, str]:
    """The product's pack for each budget, out of a memory of all that the others had come to when it began."""
    transcript = session.transcript
    home = memories.before(transcript.began, known, folder, without=session.name)
    with memories.opened(home) as memory:
        description = transcripts.first_words(transcript)
        return {
            budget: build(
                memory,
                Wanted(
                    session=session.name,
                    folder=transcript.folder,
                    description=description,
                    caps=Caps(total=budget),
                ),
                Quarter(),
            ).text
            for budget in budgets
        }
