"""Takes away what was agreed on, and nothing else."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from blackbird.home import Home
from blackbird.recorder import process
from blackbird.service import systemd
from blackbird.service.inventory import Inventory, Item
from blackbox.disk import write_error


def remove(home: Home, inventory: Inventory, *, purge: bool) -> tuple[int | None, list[Path]]:
    """Stop the recorder, and remove what is ours; with `purge` the recordings, too. Who was stopped, what is gone."""
    gone: list[Path] = []
    if inventory.unit is not None:
        systemd.remove(inventory.unit)
        gone.append(inventory.unit)
    stopped = process.down(home)
    gone += _take_away(inventory.own)
    if purge:
        gone += _take_away(inventory.recordings)
    with contextlib.suppress(OSError):  # something is left in it
        home.path.rmdir()
        gone.append(home.path)
    return stopped, gone


def _take_away(items: Sequence[Item]) -> list[Path]:
    """What is gone: a folder if nothing is left in it, or else what was ours of it."""
    gone = []
    for item in items:
        files = item.contents()
        try:
            for path in files:
                path.unlink(missing_ok=True)
            gone += [item.path] if _unlink_or_leave(item.path) else files
        except OSError as error:
            raise write_error(error.filename or item.path, error) from error
    return gone


def _unlink_or_leave(path: Path) -> bool:
    """Whether a file, a link or an empty folder is gone; a folder in which somebody keeps something stays."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return True
    if any(path.iterdir()):
        return False
    path.rmdir()
    return True
