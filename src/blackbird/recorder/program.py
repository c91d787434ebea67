"""Finds the recorder program that is installed beside this package."""

import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from blackbird.errors import RecorderMissing

PROGRAM = "blackbird-recorder"


def install_folders() -> tuple[Path, ...]:
    """Where an installation of this package can have put its programs, likeliest first.

    `PATH` is left out on purpose: a recorder found there may belong to another version, and would write a
    log that this one reads wrongly.
    """
    environment = sysconfig.get_path("scripts")
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    target = Path(__file__).parents[2] / "bin"  # pip install --target
    return tuple(dict.fromkeys([Path(environment), Path(user), target]))


def find(folders: Iterable[Path] | None = None) -> Path:
    """The recorder program of this installation, or `RecorderMissing`."""
    searched = install_folders() if folders is None else tuple(folders)
    name = f"{PROGRAM}.exe" if sys.platform == "win32" else PROGRAM
    for folder in searched:
        program = folder / name
        if program.is_file():
            return program
    raise RecorderMissing(PROGRAM, searched)
