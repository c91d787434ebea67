"""Finds the recorder program that is installed beside this package, and has it do a single thing."""

import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blackbird.errors import RecorderFailed, RecorderMissing, RecorderRefused

PROGRAM = "blackbird-recorder"
_SAID = 4000


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


def run_once(name: str, words: Sequence[str | bytes | Path], remedy: str, *, given: bytes = b"") -> dict[str, Any]:
    """What the program answers when it is to do one thing and end; `remedy` is for when it does not say.

    `given` is what it reads.
    """
    done = subprocess.run(  # noqa: S603 - our own program by its full path
        [find(), *words],
        capture_output=True,
        input=given,
        check=False,
    )
    said = done.stderr.decode(errors="replace").strip()[-_SAID:]
    try:
        body = msgspec.json.decode(done.stdout, type=dict[str, Any])
    except msgspec.DecodeError:
        body = {}
    agreed = body.pop("ok", None)
    if agreed is False:
        raise RecorderRefused(
            body.get("code", "refused"), body.get("message", said or f"{name} was refused"), body.get("remedy", "")
        )
    if done.returncode != 0 or agreed is not True:
        reason = said or f"the recorder ended with {done.returncode} and said nothing"
        raise RecorderFailed(f"{name}: {reason}", remedy)
    return body
