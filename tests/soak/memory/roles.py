"""What one writer and one reader do, each a process of its own, until it is killed: `roles ROLE FOLDER SEED`."""

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from blackbird.errors import MemoryBusy
from blackbird.pack.building import build
from blackbird.pack.model import Wanted
from blackbird.retrieve import lookup, neighbours, search
from blackbird.retrieve.model import Asked, Scope
from blackbird.store import files
from blackbird.store.memory import Memory, Reader
from blackbird.store.writing import Writing
from blackbird.tokens import counter
from tests.soak.memory import sessions
from tests.soak.memory.ledger import Ledger

SESSIONS = 12
_COUNTER = counter()


def write(folder: Path, dice: random.Random) -> None:
    """Take the lock, write some versions, now and then all of it into a new file; again and again."""
    ledger = Ledger(folder / "ledger")
    derived = folder / "derived"
    while True:
        try:
            with files.locked(derived), ledger.alone():
                _turn(derived, ledger, dice)
        except MemoryBusy:
            pass
        time.sleep(dice.uniform(0, 0.02))


def _turn(derived: Path, ledger: Ledger, dice: random.Random) -> None:
    path = files.current(derived)
    if path is None or dice.random() < 0.1:
        _rebuild(derived, path)
        path = files.current(derived)
    if path is None:
        raise AssertionError("it was just put in place")
    with Writing(path) as memory:
        for _ in range(dice.randint(1, 8)):
            session = sessions.name(dice.randrange(SESSIONS))
            version = max(_version(memory, session), ledger.promised(session)) + 1
            memory.put(session, sessions.artifacts(session, version), note=sessions.note(session))
            ledger.promise(session, version)


def _rebuild(derived: Path, path: Path | None) -> None:
    """Everything into a new file, which then takes the place of the old one."""
    with Writing.new(derived, "1", None) as new:
        if path is not None:
            with Memory(path) as old:
                for session in old.sessions():
                    kept = sessions.artifacts(session, _version(old, session))
                    new.put(session, kept, note=sessions.note(session))
        new.settle()
    files.put_in_place(derived, new.path)


def _version(memory: Memory, session: str) -> int:
    stored = memory.find(session=session)
    return max((sessions.version_of(one.artifact) for one in stored), default=0)


def read(folder: Path, dice: random.Random) -> None:
    """Ask for something that was promised; again and again, with one reader for all."""
    ledger = Ledger(folder / "ledger")
    with Reader(folder / "derived") as reader:
        while True:
            known = ledger.sessions()
            if not known:
                time.sleep(0.01)
                continue
            session = dice.choice(known)
            least = ledger.promised(session)
            memory = reader.memory
            if memory is None:
                raise AssertionError("there was a memory, and now there is none")
            dice.choice(LOOKS)(memory, session, least)
            ledger.tick()


def look_at_all(memory: Memory, session: str, least: int) -> None:
    """A session is whole and of one version, which is none before what was promised."""
    found = [sessions.version_of(one.artifact) for one in memory.find(session=session)]
    if len(found) != sessions.ARTIFACTS or len(set(found)) != 1 or found[0] < least:
        raise AssertionError(f"{session}: {len(found)} artifacts of versions {set(found)}, promised was {least}")


def look_at_one(memory: Memory, session: str, least: int) -> None:
    """An artifact of every version is there, by its id and with what is related to it."""
    steady = sessions.artifacts(session, 1)[-1].id
    stored = lookup.whole(memory, steady)
    if sessions.version_of(stored.artifact) < least:
        raise AssertionError(f"{steady} is of version {sessions.version_of(stored.artifact)}, promised was {least}")
    neighbours.related(memory, stored, 5, _COUNTER)


def look_for_words(memory: Memory, session: str, least: int) -> None:
    """The words of a session are found, in it and everywhere, in no older form than was promised."""
    for scope in (Scope(session=session), Scope(session=session, only=False)):
        found = search.search(memory, Asked(text="harbour piece lift_crane", scope=scope), _COUNTER)
        own = [card for card in found.cards if card.session == session]
        if not found.cards or (scope.only and len(own) != len(found.cards)):
            raise AssertionError(f"{session}: {len(own)} of {len(found.cards)} cards are its own")
        versions = {int(card.title.rpartition(" ")[2]) for card in own}
        if any(version < least for version in versions):
            raise AssertionError(f"{session}: cards of versions {versions}, promised was {least}")


def look_at_pack(memory: Memory, session: str, _: int) -> None:
    """A pack can be built."""
    pack = build(memory, Wanted(session=session, description="lift the crane"), _COUNTER)
    if not pack.text:
        raise AssertionError(f"{session}: an empty pack")


def look_at_bodies(memory: Memory, session: str, _: int) -> None:
    """Everything can be read, in the order of ids, while it changes."""
    count = sum(1 for _ in memory.dump())
    if count % sessions.ARTIFACTS:
        raise AssertionError(f"{session}: half a session in {count} artifacts")


LOOKS: list[Callable[[Memory, str, int], None]] = [
    look_at_all,
    look_at_one,
    look_for_words,
    look_at_pack,
    look_at_bodies,
]


def main() -> None:
    """Play a role until the end."""
    role, folder, seed = sys.argv[1:]
    dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
    {"write": write, "read": read}[role](Path(folder), dice)


if __name__ == "__main__":
    main()
