"""Memories of transcripts, made by the product itself: each as it was before some moment."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.material import transcripts
from bench.material.transcripts import Transcript
from bench.peers import ROOT
from blackbird import derive
from blackbird.home import VARIABLE, Home
from blackbird.store import files
from blackbird.store.memory import Memory

_PROGRAM = str(Path(sys.executable).parent / "blackbird")


def before(moment: int | None, sessions: Iterable[Transcript], folder: Path, *, without: str | None = None) -> Home:
    """A home that knows what sessions had come to before a moment: their logs imported, and derived from.

    `without` is the session that is about to begin: of itself it knows nothing.
    """
    home = Home(folder / "home", folder / "home" / "config.toml")
    logs = folder / "logs"
    written = [transcripts.write(session, logs, moment) for session in sessions if session.session != without]
    home.path.mkdir(parents=True, exist_ok=True)
    if any(path is not None for path in written):
        environment = {**os.environ, VARIABLE: str(home.path), "PYTHONPATH": str(ROOT / "src")}
        subprocess.run(
            [_PROGRAM, "import", "--yes", str(logs)], env=environment, check=True, stdout=subprocess.DEVNULL
        )
    derive.catch_up(home)
    return home


def opened(home: Home) -> Memory:
    """The memory of a home, to be closed by whoever asked for it."""
    path = files.current(home.derived)
    if path is None:
        raise SystemExit(f"{home.derived} has no memory")
    return Memory(path)
