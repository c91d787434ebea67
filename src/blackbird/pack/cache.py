"""Packs that were made before: a file each, whole or not there, found by all that its bytes depend on."""

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from blackbird.pack import building, reading
from blackbird.pack.model import Pack, Wanted
from blackbird.store.memory import Memory
from blackbird.tokens import Counter
from blackbox.disk import make_folder, write_once
from blackbox.errors import BlackboxError

FOLDER = "packs"
#: So many packs are kept; those that were not asked for longest go first.
MOST = 256
_SUFFIX = ".json"
_DIGEST_BYTES = 16
_PACK = msgspec.json.Decoder(Pack)
_ENCODER = msgspec.json.Encoder(order="deterministic")


def key(wanted: Wanted, state: str, builder: str, counter: str, rules: str = "") -> str:
    """The session, the task and its description, the limits, the state of the sessions, the builder, the counter.

    `rules` names what takes secrets out of it, where that may change without the memory.
    """
    told = _ENCODER.encode([msgspec.to_builtins(wanted), state, builder, counter, rules])
    return hashlib.blake2b(told, digest_size=_DIGEST_BYTES).hexdigest()


def kept_or_built(
    folder: Path,
    memory: Memory,
    wanted: Wanted,
    counter: Counter,
    build: Callable[[], Pack] | None = None,
    *,
    rules: str = "",
) -> tuple[Pack, bool]:
    """The pack, and whether it was there. What cannot be kept is built each time, by `build` if that is given."""
    state, builder = reading.state(memory, wanted), building.builder(memory.builder or "")
    path = folder / (key(wanted, state, builder, counter.name, rules) + _SUFFIX)
    known = _read(path)
    if known is not None and (known.state, known.builder, known.counter) == (state, builder, counter.name):
        return known, True
    pack = build() if build is not None else building.build(memory, wanted, counter)
    if pack.state == state:
        _keep(folder, path, pack)
    return pack, False


def _read(path: Path) -> Pack | None:
    """A pack that was kept, unless it cannot be read: then it is made again."""
    try:
        pack = _PACK.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return pack


def _keep(folder: Path, path: Path, pack: Pack) -> None:
    """Keep a pack, and throw the oldest away; a full disk takes nothing but time."""
    with contextlib.suppress(BlackboxError, OSError):
        make_folder(folder)
        write_once(path, _ENCODER.encode(pack), sync=False)
        kept = sorted(folder.glob(f"*{_SUFFIX}"), key=_age)
        for old in kept[:-MOST]:
            old.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        # Another process threw it away.
        return 0.0
