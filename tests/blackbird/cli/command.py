"""The command `blackbird` through its entry point, in a home of its own."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from blackbird import home as homes
from blackbird.cli import app
from blackbird.home import Home


class Done(NamedTuple):
    """How a run ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The one object on standard error."""
        return json.loads(self.err)


class Place(NamedTuple):
    """A user's home, and the command run in it."""

    home: Home
    run: Callable[..., Done]


def place(folder: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> Place:
    """A home in an empty folder, and the command with nothing else to read."""
    monkeypatch.setenv("BLACKBIRD_HOME", str(folder / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(folder)
    home = homes.find()
    home.run.mkdir(parents=True, mode=0o700)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["blackbird", *arguments])
        capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            app.main()
        said = capture.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, said.out, said.err)

    return Place(home, run)
