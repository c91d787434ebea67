"""Installs the agents of clients.toml, each into a folder of its own, and leaves alone what is there already.

python tests/agents/install.py                all of them, below target/agents
python tests/agents/install.py claude codex   these two
"""

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "target" / "agents"
_SECONDS = 1200
_STAMP = "installed.json"


class InstallError(Exception):
    """An agent could not be installed; says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of clients.toml."""

    name: str
    npm: tuple[str, ...]
    pip: tuple[str, ...]
    programs: tuple[str, ...]
    before: tuple[int, ...]

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any]) -> "Entry":
        """Read one table."""
        before = tuple(int(part) for part in str(table.get("before", "4")).split("."))
        return cls(name, tuple(table.get("npm", ())), tuple(table.get("pip", ())), tuple(table["programs"]), before)

    @property
    def packages(self) -> list[str]:
        """All that is installed, with versions."""
        return [*self.npm, *self.pip]


def entries() -> dict[str, Entry]:
    """Every entry, by its name."""
    tables = tomllib.loads((HERE / "clients.toml").read_text(encoding="utf-8"))
    return {name: Entry.of(name, table) for name, table in tables.items()}


def programs(entry: Entry, folder: Path) -> dict[str, Path]:
    """Where the programs of an entry are, or will be, below the folder of all agents."""
    place = folder / entry.name / ("node_modules/.bin" if entry.npm else "bin")
    return {name: place / name for name in entry.programs}


def is_installed(entry: Entry, folder: Path) -> bool:
    """Whether just these versions are there, and all their programs."""
    stamp = folder / entry.name / _STAMP
    if not stamp.is_file() or json.loads(stamp.read_text(encoding="utf-8")) != entry.packages:
        return False
    return all(path.exists() for path in programs(entry, folder).values())


def install(entry: Entry, folder: Path) -> None:
    """Install one entry from nothing; InstallError if that fails."""
    place = folder / entry.name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if entry.npm:
        _run("npm", "install", "--prefix", str(place), "--no-fund", "--no-audit", "--loglevel=error", *entry.npm)
    if entry.pip:
        _run(_python(entry.before), "-m", "venv", str(place))
        _run(str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *entry.pip)
    missing = [name for name, path in programs(entry, folder).items() if not path.exists()]
    if missing:
        raise InstallError(f"{', '.join(entry.packages)} came without {', '.join(missing)}")
    (place / _STAMP).write_text(json.dumps(entry.packages), encoding="utf-8")


def _python(before: tuple[int, ...]) -> str:
    """An interpreter older than `before`: this one if it is, else the newest on the PATH that is."""
    if sys.version_info[:2] < before:
        return sys.executable
    for minor in range(before[1] - 1, 9, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    raise InstallError(f"no Python older than {'.'.join(map(str, before))} is on the PATH")


def _run(*words: str) -> None:
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise InstallError(f"{words[0]} is not on the PATH") from error
    except subprocess.TimeoutExpired as error:
        raise InstallError(f"{words[0]} took longer than {_SECONDS} s") from error
    if done.returncode != 0:
        last = "\n    ".join(done.stderr.strip().splitlines()[-8:])
        raise InstallError(f"{Path(words[0]).name} ended with {done.returncode}:\n    {last}")


def main(arguments: Sequence[str]) -> int:
    """Install what is asked for; 1 if anything of it failed."""
    known = entries()
    parser = argparse.ArgumentParser(description="Install the agents that `blackbird run` is tried with.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all if none is given")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they go; target/agents if not given")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.names) - set(known))
    if unknown:
        parser.error(f"clients.toml has no entry {', '.join(unknown)}; it has {', '.join(known)}")
    failed = []
    for name in chosen.names or known:
        if is_installed(known[name], chosen.folder):
            sys.stderr.write(f"{name}: is there\n")
            continue
        sys.stderr.write(f"{name}: installing {', '.join(known[name].packages)}\n")
        try:
            install(known[name], chosen.folder)
        except InstallError as error:
            sys.stderr.write(f"{name}: failed: {error}\n")
            failed.append(name)
    if failed:
        sys.stderr.write(f"not installed: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
