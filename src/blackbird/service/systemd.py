"""Writes the unit where systemd looks for it, has it started if asked to, and takes it away."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from blackbird.config.layers import Assignment, from_environment
from blackbird.errors import RecorderMissing
from blackbird.home import VARIABLE, Home
from blackbird.recorder import program
from blackbird.service import unit
from blackbox.disk import make_folder, replace_file, write_error, write_once
from blackbox.errors import ReadError, UsageError, WriteError

COMMAND = "blackbird"
#: Variables that say where a home is; a service has none of those of a shell.
_PLACES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME")
_LONGEST_UNIT = 64 << 10
_TIMEOUT_SECONDS = 120.0


class Written(NamedTuple):
    """A unit on the disk, and whether it was `written`, `replaced` or `unchanged`."""

    path: Path
    state: str


def unit_path(environ: Mapping[str, str], user_home: Path) -> Path:
    """Where the unit of this user belongs."""
    chosen = environ.get("XDG_CONFIG_HOME")
    base = Path(chosen) if chosen and Path(chosen).is_absolute() else user_home / ".config"
    return base / "systemd" / "user" / unit.NAME


def find_command() -> Path:
    """The command `blackbird` of this installation by its full path."""
    folders = program.install_folders()
    found = next((folder / COMMAND for folder in folders if (folder / COMMAND).is_file()), None)
    if found is None:
        raise RecorderMissing(COMMAND, folders)
    return found.absolute()


def compose(home: Home, options: Sequence[str], environ: Mapping[str, str], drain_seconds: int) -> str:
    """The unit for the recorder of a home, with the options that `up` was given and the settings in variables."""
    variables = {name: environ[name] for name in _PLACES if environ.get(name)}
    if environ.get(VARIABLE):
        variables[VARIABLE] = str(home.path)
    set_here = [each.origin.where for each in from_environment(environ) if not each.setting.secret]
    variables |= {name: environ[name] for name in set_here}
    return unit.render([str(find_command()), "up", "--foreground", *options], variables, drain_seconds)


def secrets(environ: Mapping[str, str]) -> list[Assignment]:
    """The settings of the environment that no unit has: others can read what systemd knows."""
    return [each for each in from_environment(environ) if each.setting.secret]


def write(path: Path, text: str, *, force: bool) -> Written:
    """Put a unit in its place; one that was not written here stays unless `force` says otherwise."""
    there = read(path)
    if there is None:
        make_folder(path.parent)
        write_once(path, text.encode(), sync=False)
        return Written(path, "written")
    if there == text:
        return Written(path, "unchanged")
    if not unit.is_ours(there) and not force:
        raise UsageError(f"{path} was written by somebody else", "look at it, and add --force to replace it")
    replace_file(path, text.encode())
    return Written(path, "replaced")


def read(path: Path) -> str | None:
    """The unit that is there, if one is."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST_UNIT).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}", "make it readable, or remove it") from error


def enable() -> None:
    """Have systemd read the unit, start it now and whenever this user logs in."""
    _systemctl("daemon-reload")
    _systemctl("enable", "--now", unit.NAME)


def is_active() -> bool:
    """Whether systemd runs the unit now."""
    done = _run("is-active", "--quiet", unit.NAME)
    return done is not None and done.returncode == 0


def remove(path: Path) -> None:
    """Stop the unit, and take it and the links to it away; systemd need not be there."""
    _run("disable", "--now", unit.NAME)
    link = path.parent / "default.target.wants" / unit.NAME
    try:
        if link.is_symlink():
            link.unlink()
        path.unlink(missing_ok=True)
    except OSError as error:
        raise write_error(path, error) from error
    for folder in (link.parent, path.parent):
        with contextlib.suppress(OSError):  # others have units there
            folder.rmdir()
    _run("daemon-reload")


def _systemctl(*words: str) -> None:
    done = _run(*words)
    told = f"systemctl --user {' '.join(words)}"
    if done is None:
        raise UsageError("there is no systemctl here", f"where there is one, type: {told}")
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip().replace("\n", " ")[-300:]
        raise WriteError(
            f"{told}: {reason or f'it ended with {done.returncode}'}", f"the unit is written; try: {told}"
        )


def _run(*words: str) -> subprocess.CompletedProcess[bytes] | None:
    """What systemctl did; nothing if it is not there or never came back."""
    systemctl = shutil.which("systemctl")
    if systemctl is None:
        return None
    try:
        return subprocess.run(  # noqa: S603 - our own words to a program by its full path
            [systemctl, "--user", *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=_TIMEOUT_SECONDS,
            env={**os.environ, "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
