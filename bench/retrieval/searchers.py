"""Ways to find turns by a question: plain FTS5, the best lexical variant tried before, and the product's own."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from bench.retrieval.conversations import Conversation
from blackbird.artifacts.model import Artifact, Provenance, Segment, Type, artifact_id
from blackbird.canon.model import Evidence, Side
from blackbird.retrieve.model import Asked, Scope
from blackbird.retrieve.search import search
from blackbird.store import files
from blackbird.store.writing import Writing
from blackbird.tokens import Plain

#: The numbers of the turns that a question finds, the best first.
Search = Callable[[str, int], list[int]]
_DEPTH = 200
_FUSION = 60
_SESSION = "talk"
_EVIDENCE = Evidence(source="req_1", side=Side.REQUEST, start=0, end=1, segment=1, sequence=1)
#: What the variants leave out of a question; the product has its own list.
_SAYING_NOTHING = """
a an and are as at be been but by can could did do does for from had has have he her him his how i if in into is it
its me my no not of on or our she so than that the their them then there these they this those to was we were what
when where which who whom why will with would you your about after before
"""
_STOPPED = frozenset(_SAYING_NOTHING.split())


def plain(conversation: Conversation, _: Path) -> Search:
    """FTS5 as it comes, over what was said."""
    return _indexed([turn.text for turn in conversation.turns], "unicode61")


def best_lexical(conversation: Conversation, _: Path) -> Search:
    """Stems over date, speaker and turn, and over each turn with its neighbours, joined by reciprocal rank."""
    turns = conversation.turns
    texts = [f"{turn.date} {turn.speaker} {turn.text}" for turn in turns]
    windows = [
        " ".join(
            texts[at]
            for at in range(max(0, number - 1), min(len(turns), number + 2))
            if turns[at].session == turn.session
        )
        for number, turn in enumerate(turns)
    ]
    lists = [_indexed(texts, "porter unicode61"), _indexed(windows, "porter unicode61")]

    def searched(question: str, most: int) -> list[int]:
        scores: dict[int, float] = {}
        for each in lists:
            for rank, number in enumerate(each(question, _DEPTH), 1):
                scores[number] = scores.get(number, 0.0) + 1 / (_FUSION + rank)
        return sorted(scores, key=lambda number: (-scores[number], number))[:most]

    return searched


def blackbird(conversation: Conversation, folder: Path) -> Search:
    """The memory and the search that agents use, within the session."""
    with files.locked(folder / "derived"):
        memory = Writing.new(folder / "derived", "bench", None)
    artifacts = [
        Artifact(
            id=artifact_id(Type.SEGMENT, _SESSION, str(number)),
            type=Type.SEGMENT,
            session=_SESSION,
            run=f"run_{turn.session}",
            title=turn.text[:80],
            content=Segment(speaker=turn.speaker, text=turn.text, position=number),
            provenance=(Provenance(item=str(number), evidence=_EVIDENCE),),
            builder="bench",
            at=turn.at,
        )
        for number, turn in enumerate(conversation.turns)
    ]
    memory.put(_SESSION, artifacts)
    memory.index()
    numbers = {artifact.id: number for number, artifact in enumerate(artifacts)}

    def searched(question: str, most: int) -> list[int]:
        found = search(memory, Asked(text=question, scope=Scope(session=_SESSION), k=most), Plain())
        return [numbers[card.id] for card in found.cards]

    return searched


def _indexed(texts: Sequence[str], tokenizer: str) -> Search:
    database = apsw.Connection(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, tokenize='{tokenizer}')")
    database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", list(enumerate(texts)))

    def searched(question: str, most: int) -> list[int]:
        words = re.findall(r"\w+", question.lower())
        chosen = dict.fromkeys([word for word in words if word not in _STOPPED] or words)
        query = " OR ".join(f'"{word}"' for word in chosen)
        rows = database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?", (query, most)
        )
        return [row[0] for row in rows]

    return searched
