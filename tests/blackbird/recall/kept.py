"""A home with a trace of two sessions in it, and `Recall` on it."""

from pathlib import Path
from typing import Any

from blackbird.config.load import load
from blackbird.config.resolve import Config
from blackbird.home import Home
from blackbird.recall import Recall
from blackbird.store import files
from blackbird.store.memory import Reader
from tests.blackbird.flights import Flight
from tests.blackbird.flights import Trace as Clock
from tests.blackbird.logbook import Logbook
from tests.blackbird.trace.encoder import encode_synced


class Kept:
    """What was recorded, and how it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home", folder / "config.toml")
        self.home.path.mkdir(mode=0o700, exist_ok=True)
        self.book, self.clock = Logbook(), Clock()
        self.one = Flight("messages", trace=self.clock, chunks=(37, 300))
        self.two = Flight("chat", session="s2", run="run_2", trace=self.clock)

    def record(self) -> "Kept":
        """A decision, what was done upon it, and a session of somebody else."""
        self.say(self.one, "Let's use SQLite instead of Postgres. Never delete a segment.", "I put it into store.py.")
        self.say(self.two, "How is the weather in the harbour?", "The harbour is calm.")
        return self.save()

    def say(self, flight: Flight, words: str, answer: str) -> None:
        """One more turn."""
        self.book.exchange(flight.turn(words, says=answer))

    def save(self, **how: Any) -> "Kept":
        """All that was recorded so far, on the disk."""
        self.book.save(self.home.trace, **how)
        last = self.book.tracer.current
        reached = encode_synced(last.number, last.records[-1].sequence, len(last.wal))
        (self.home.trace / "synced").write_bytes(reached)
        return self

    def config(self, text: str = "") -> Config:
        """What a user's file says."""
        self.home.config_file.write_text(text)
        return load(self.home, variables={}, folder=self.home.path)

    def recall(self, config: str = "", **more: Any) -> Recall:
        """The memory, by a user's file."""
        return Recall(self.home, self.config(config), **{"door": "cli", **more})

    def ids(self, **wanted: Any) -> list[str]:
        """The artifacts that are there by now."""
        with Reader(self.home.derived) as reader:
            assert reader.memory is not None
            return [stored.artifact.id for stored in reader.memory.find(**wanted)]

    def tamper(self, old: str, new: str) -> None:
        """Change what the memory says, behind everybody's back."""
        path = files.current(self.home.derived)
        assert path is not None
        database = files.connect(path, writable=True)
        database.execute(
            "UPDATE artifact SET body = replace(body, ?, ?), title = replace(title, ?, ?)", [old, new] * 2
        )
        database.close()
