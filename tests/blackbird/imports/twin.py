"""A feed that keeps what it is sent, and the ledger of an empty home."""

from pathlib import Path
from typing import Any, NamedTuple

from blackbird.config.load import load
from blackbird.home import Home
from blackbird.imports.finding import Candidate, Search
from blackbird.imports.ledger import Ledger
from blackbird.imports.taking import Taker
from blackbird.recorder.feed import Feed
from blackbird.trace.folder import Trace


class Twin(Feed):
    """Answers as a recorder would."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, load(home))
        self.sent: list[dict[str, Any]] = []

    def send(self, op: dict[str, Any]) -> dict[str, Any]:
        self.sent.append(op)
        return {"sequence": len(self.sent), "redactions": {}}

    def events(self, name: str) -> list[dict[str, Any]]:
        """What was stated."""
        return [op["data"] for op in self.sent if op.get("event") == name]

    def lines(self) -> list[dict[str, Any]]:
        """All lines in order."""
        return [line for op in self.sent if op["op"] == "import" for line in op["lines"]]


class Bench(NamedTuple):
    """Everything that an import needs, without a recorder."""

    ledger: Ledger
    twin: Twin
    taker: Taker

    def find(self, *paths: Path, keep: bool = True) -> list[Candidate]:
        return list(Search(self.ledger, keep=keep).at(paths))


def bench(folder: Path, *, keep: bool = True) -> Bench:
    home = Home(folder / "home", folder / "config.toml")
    twin = Twin(home)
    ledger = Ledger(home.derived / "imports.json", Trace(home.trace))
    return Bench(ledger, twin, Taker(twin, ledger, keep=keep))
