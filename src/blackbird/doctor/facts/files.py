"""The modes and owners of our files, and the room on the disk they are on."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from blackbird.home import Home

#: What this program and the recorder keep in a home; whatever else is there is the user's business.
OURS = ("trace", "run", "ca", "hmac.key", "runs.jsonl", "usage.jsonl", "usage.old.jsonl")
#: A trace has few files; one that has more is looked at as far as this.
_MOST_FILES = 50_000


class Loose(msgspec.Struct, frozen=True):
    """A file or folder that others can get at, or that belongs to another user."""

    path: str
    mode: int
    is_folder: bool
    is_foreign: bool = False


class Files(msgspec.Struct, frozen=True):
    """What there is; `free` and `total` are of the disk, where the system tells."""

    home: str
    exists: bool
    loose: list[Loose] = []
    free: int | None = None
    total: int | None = None
    unreadable: list[str] = []


def gather(home: Home, *, token_in_config: bool) -> Files:
    """The files of a home; the configuration counts if it holds a token."""
    if not home.path.is_dir():
        return Files(str(home.path), exists=False)
    unreadable: list[str] = []
    ours = [home.path / name for name in OURS]
    paths = [home.path, *(each for each in ours if each.exists())]
    paths += [path for each in ours if each.is_dir() for path in _below(each, unreadable)]
    if token_in_config and home.config_file.is_file():
        paths.append(home.config_file)
    loose = [each for each in map(_look, dict.fromkeys(paths)) if each is not None]
    free, total = _room(home.path)
    return Files(str(home.path), exists=True, loose=loose, free=free, total=total, unreadable=unreadable)


def _below(folder: Path, unreadable: list[str]) -> Iterator[Path]:
    """All below a folder, links not followed."""

    def tell(error: OSError) -> None:
        unreadable.append(f"{error.filename}: {error.strerror or error}")

    count = 0
    for place, folders, files in os.walk(folder, onerror=tell):
        for name in (*folders, *files):
            count += 1
            if count > _MOST_FILES:
                return
            yield Path(place) / name


def _look(path: Path) -> Loose | None:
    try:
        about = path.lstat()
    except OSError:
        return None  # it went while it was looked for
    if stat.S_ISLNK(about.st_mode):
        return None
    mode = stat.S_IMODE(about.st_mode)
    is_foreign = hasattr(os, "getuid") and about.st_uid != os.getuid()
    if not mode & 0o077 and not is_foreign:
        return None
    return Loose(str(path), mode, stat.S_ISDIR(about.st_mode), is_foreign)


def _room(folder: Path) -> tuple[int | None, int | None]:
    try:
        about = os.statvfs(folder)
    except (OSError, AttributeError):
        return None, None
    return about.f_bavail * about.f_frsize, about.f_blocks * about.f_frsize
