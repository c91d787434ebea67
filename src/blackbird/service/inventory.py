"""What of ours is where: what goes with the program, what are recordings, and what is somebody else's."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from blackbird.home import Home
from blackbird.service import systemd, unit
from blackbox.errors import ReadError

#: What a completion script of ours has in one of its first lines.
COMPLETION_MARK = "# Printed by blackbird completion"
#: What we keep in our folders, by their names; whatever else is in one of them is somebody else's and stays.
_RUN = (
    "recorder.*",
    "control.sock",
    "supervisor.lock",
    "mcp.token",
    "agent-*.json",
    "hooks-*.json",
    "pack-*.*",
    ".*.*.tmp",
)
_CA = ("ca.pem", "ca.key", "bundle-*.pem", "lock", ".*.tmp")
_CLIENTS = ("*.json", ".*.tmp")
_TRACE = ("[0-9]*.wal", "[0-9]*.seal", "[0-9]*.gone", "[0-9]*.part", "synced", "lock")
_SPOOL = ("spool.jsonl", "spool.taken.jsonl")
_DERIVED = ("imports.json", "imports.lock", "memory.db", "memory-*.db*", "memory.lock", ".*.tmp")
_PACKS = ("*.json", ".*.tmp")


class Item(msgspec.Struct, frozen=True):
    """A file, or a folder with the patterns of what in it is ours; and what it is."""

    path: Path
    what: str
    patterns: tuple[str, ...] = ()

    def contents(self) -> list[Path]:
        """What of a folder is ours; nothing of a link, which leads to who knows where."""
        if not self.path.is_dir() or self.path.is_symlink():
            return []
        return sorted({path for pattern in self.patterns for path in self.path.glob(pattern)})


class Inventory(msgspec.Struct, frozen=True):
    """All that there is; only what exists is listed."""

    unit: Path | None
    own: list[Item]
    recordings: list[Item]
    configuration: list[Item]
    others: list[Item]


def take(home: Home, environ: Mapping[str, str], user_home: Path) -> Inventory:
    """Look at a home and at the places outside of it."""
    path = systemd.unit_path(environ, user_home)
    own = [
        Item(home.run, "the files of the running recorder", _RUN),
        Item(home.path / "ca", "the private CA", _CA),
        Item(home.path / "clients", "what was added to the settings of agents", _CLIENTS),
    ]
    socket = home.control_socket.parent
    if socket != home.run:
        own.append(Item(socket, "the folder of the control socket", _RUN))
    own += [Item(each, "shell completion") for each in _completions(environ, user_home)]
    recordings = [
        Item(home.trace, "the recordings", _TRACE),
        Item(home.path / "hmac.key", "the key that proves what was recorded"),
        Item(home.path / "runs.jsonl", "the runs that were registered"),
        *(Item(home.path / name, "tool events that wait for a recorder") for name in _SPOOL),
        *(Item(path, "what was asked of the memory") for path in (home.usage, home.usage_before)),
        # Before the folder that it is in, which goes once it is empty.
        Item(home.derived / "packs", "context packs that were made", _PACKS),
        Item(home.derived, "what was derived from the recordings", _DERIVED),
    ]
    configuration = [Item(home.config_file, "your settings")]
    return Inventory(
        path if _is_unit_of_ours(path) else None,
        _there(own),
        _there(recordings),
        _there(configuration),
        _others(home, [*own, *recordings, *configuration]),
    )


def _others(home: Home, known: list[Item]) -> list[Item]:
    """What is in the home, or in a folder of ours, and is not ours."""
    ours = {path for item in known for path in (item.path, *item.contents())}
    folders = [home.path, *(item.path for item in known if item.patterns and not item.path.is_symlink())]
    try:
        found = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    except OSError as error:
        raise ReadError(f"{error.filename}: {error.strerror or error}", "make it readable for you") from error
    return [Item(each, "not ours") for each in found if each not in ours]


def _completions(environ: Mapping[str, str], user_home: Path) -> list[Path]:
    """Scripts that `blackbird completion` printed, in the places where shells look for them."""
    data = Path(environ.get("XDG_DATA_HOME") or user_home / ".local" / "share")
    config = Path(environ.get("XDG_CONFIG_HOME") or user_home / ".config")
    places = [
        data / "bash-completion" / "completions" / "blackbird",
        user_home / ".zfunc" / "_blackbird",
        config / "fish" / "completions" / "blackbird.fish",
    ]
    return [place for place in places if _has_mark(place)]


def _has_mark(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return COMPLETION_MARK.encode() in file.read(400)
    except OSError:
        return False


def _is_unit_of_ours(path: Path) -> bool:
    try:
        text = systemd.read(path)
    except ReadError:
        return False
    return text is not None and unit.is_ours(text)


def _there(items: list[Item]) -> list[Item]:
    return [item for item in items if item.path.is_symlink() or (item.path.exists() and _is_worth_it(item))]


def _is_worth_it(item: Item) -> bool:
    """Whether there is something of ours to go: a file, a folder with such files, or an empty folder."""
    return not item.patterns or bool(item.contents()) or not any(item.path.iterdir())
