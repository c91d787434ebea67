"""A memory that fits in a head, for tests of the doors alone; started as a program, it is an MCP server."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from blackbird.artifacts.model import Artifact, Decision, Provenance, Segment, Signal, Speaker, Type
from blackbird.artifacts.proof import Proof
from blackbird.canon.model import Evidence, Side
from blackbird.doors import stdio
from blackbird.doors.dispatch import Dispatcher
from blackbird.doors.guard import Guard
from blackbird.errors import NotFound
from blackbird.pack.model import Pack
from blackbird.recall.model import Whole
from blackbird.recall.whose import Whose
from blackbird.retrieve.model import Asked, Card, Found, Neighbour

AT = 1_772_000_000_000_000_000
TOKEN = "sesame-open-please"
PROOF = Provenance(
    item="i1",
    evidence=Evidence(source="req_1", side=Side.RESPONSE, start=0, end=9, segment=1, sequence=7),
    quote="plain adding",
)


def artifact(identifier: str = "art_aaaaaaaa", text: str = "add() uses plain integer addition") -> Artifact:
    """A decision."""
    content = Decision(
        statement=text, by=Speaker.USER, signal=Signal.IMPERATIVE, holds_from=AT, choice="plain adding"
    )
    return Artifact(
        id=identifier,
        type=Type.DECISION,
        session="harbour",
        task="crane",
        title=text[:60],
        content=content,
        provenance=(PROOF,),
        builder="b/1",
        at=AT,
    )


def passage(text: str) -> Artifact:
    """A passage of a conversation, as long as one likes."""
    content = Segment(speaker="user", text=text, position=0)
    return Artifact(
        id="art_cccccccc",
        type=Type.SEGMENT,
        session="harbour",
        title="said",
        content=content,
        provenance=(PROOF,) * 300,
        builder="b/1",
        at=AT,
    )


def card(number: int = 0, snippet: str = "add() uses plain\ninteger addition") -> Card:
    """A card of the decision."""
    return Card(
        id=f"art_aaaaaa{number:02}",
        type=Type.DECISION,
        title="plain integer addition",
        snippet=snippet,
        score=1.23456,
        session="harbour",
        task="crane",
        at=AT,
        files=("calc.py",),
        state="superseded" if number % 2 else "",
    )


class StandIn:
    """Answers as the memory would, and keeps what it was asked."""

    def __init__(self, cards: int = 2) -> None:
        self.asked: list[dict[str, object]] = []
        self.askers: list[Whose] = []
        self.cards = cards

    def of(self, whose: Whose) -> "StandIn":
        """Itself, whoever asks."""
        self.askers.append(whose)
        return self

    def knows(self, session: str) -> bool:
        """All but one."""
        return session != "unheard-of"

    def search(
        self,
        text: str,
        *,
        session: str | None = None,
        task: str | None = None,
        k: int | None = None,
        types: Sequence[Type] = (),
        everywhere: bool = False,
    ) -> Found:
        """Cards, unless nothing is looked for; `slow` takes its time, `boom` breaks."""
        self.asked.append(
            {"text": text, "session": session, "task": task, "k": k, "types": list(types), "all": everywhere}
        )
        if text == "slow":
            time.sleep(0.5)
        if text == "boom":
            raise ZeroDivisionError
        if text == "print":
            sys.stdout.write("not of the protocol\n")
            sys.stdout.flush()
            os.write(1, b"nor this\n")
        count = 0 if text == "nothing" else self.cards
        cards = tuple(card(number) for number in range(count))
        return Found(asked=Asked(text=text), cards=cards, way="all", words=(text,), searched=3, stopped=("the",))

    def get(self, identifier: str) -> Whole:
        """The decision, a passage that is too long, or an error."""
        if identifier == "art_longlong":
            return Whole(artifact=passage("word " * 20_000))
        if identifier != "art_aaaaaaaa":
            raise NotFound(f"no artifact {identifier}", "blackbird mem search finds ids")
        return Whole(artifact=artifact(), proofs=(Proof.FOUND,))

    def related(self, identifier: str, k: int | None = None) -> list[Neighbour]:
        """One."""
        self.get(identifier)
        return [Neighbour(relation="file", via="calc.py", card=card(1))][:k]

    def context(
        self,
        *,
        session: str | None = None,
        task: str | None = None,
        description: str | None = None,
        folder: str | None = None,
        budget: int | None = None,
    ) -> Pack:
        """A pack that says whose it is."""
        asked: dict[str, object] = {
            "session": session,
            "task": task,
            "description": description,
            "folder": folder,
            "budget": budget,
        }
        self.asked.append(asked)
        text = f"# Context\n- for {session}/{task}\n"
        return Pack(
            session=session,
            task=task,
            description=description,
            budget=budget or 1500,
            tokens=9,
            counter="plain/1",
            builder="b/1",
            state="s",
            text=text,
        )


@contextmanager
def opened(delay: float = 0.0) -> Iterator[Dispatcher]:
    """A dispatcher on it, as slow to open as a large memory."""
    time.sleep(delay)
    yield Dispatcher(StandIn(), os.environ)


def serve() -> None:
    """The same over HTTP, until it is told to end; where it is, is its first line."""
    from blackbird.doors import http  # takes a second, and is not for those who use the other door

    where = http.listen("127.0.0.1", 0)
    guard = Guard("127.0.0.1", where.getsockname()[1], TOKEN)
    sys.stdout.write(f"http://{guard.name}\n")
    sys.stdout.flush()
    with opened() as dispatcher:
        http.serve(http.application(dispatcher, guard, lambda: "figures 1\n"), where)


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        serve()
    else:
        sys.exit(stdio.main(partial(opened, float(sys.argv[1]) if sys.argv[1:] else 0.0)))
