"""The made-up memories that questions are asked of, ours and the peers', made once and kept for the next time."""

import shutil
import struct
import sys
import time
import zlib
from pathlib import Path

import msgspec

from bench.latency.peers import PlainFts, Tantivy, text_of
from bench.latency.world import World
from bench.peers import ROOT
from blackbird.artifacts.version import builder_version
from blackbird.home import Home
from blackbird.store import files
from blackbird.store.memory import SCHEMA
from blackbird.store.values import Mark
from blackbird.store.writing import Writing

CACHE = ROOT / "target" / "latency"
#: Another number, and the stores are made anew.
_VERSION = 2
_MADE = "made.json"


class Made(msgspec.Struct):
    """What a set of stores came to: seconds of writing and bytes, by contender."""

    artifacts: int
    seconds: dict[str, float]
    bytes: dict[str, int]


class Stores(msgspec.Struct):
    """One memory in three forms."""

    home: Home
    plain: PlainFts
    tantivy: Tantivy | None
    made: Made


def stores(world: World, artifacts: int, cache: Path = CACHE) -> Stores:
    """The stores of so many artifacts: those of the last run, if the same code made them."""
    folder = cache / f"{artifacts}-{SCHEMA}-{_VERSION}"
    home = Home(folder / "home", folder / "home" / "config.toml")
    plain, tantivy = PlainFts(folder / "plain.db"), Tantivy.there_is(folder / "tantivy")
    if not (folder / _MADE).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        home.path.mkdir(parents=True)
        seconds = _write(world, artifacts, home, plain, tantivy)
        sizes = {"blackbird": _size(home.derived), "plain FTS5": _size(folder / "plain.db")}
        sizes |= {"tantivy": _size(folder / "tantivy")} if tantivy is not None else {}
        (folder / _MADE).write_bytes(msgspec.json.encode(Made(artifacts, seconds, sizes)))
    # Another builder would have it made anew, and there is no trace to make it from.
    with files.locked(home.derived), Writing(files.current(home.derived) or home.derived) as memory:
        memory.set_meta(builder=builder_version())
    made = msgspec.json.decode((folder / _MADE).read_bytes(), type=Made)
    return Stores(home, plain, tantivy, made)


def _write(world: World, artifacts: int, home: Home, plain: PlainFts, tantivy: Tantivy | None) -> dict[str, float]:
    """All contenders side by side, a session at a time, each on its own clock."""
    taken = {"blackbird": 0.0, "plain FTS5": 0.0, "tantivy": 0.0}
    done, said = 0, time.monotonic()
    with files.locked(home.derived), Writing.new(home.derived, builder_version(), None) as memory:
        for note, found in world.sessions(artifacts, builder_version()):
            texts = [(artifact.id, artifact.session, text_of(artifact)) for artifact in found]
            began = time.perf_counter()
            memory.put(note.session, found, note=note, scope=b"bench")
            ours = time.perf_counter()
            plain.add(texts)
            theirs = time.perf_counter()
            if tantivy is not None:
                tantivy.add(texts)
            ended = time.perf_counter()
            for name, span in zip(taken, (ours - began, theirs - ours, ended - theirs), strict=True):
                taken[name] += span
            done += len(found)
            if time.monotonic() - said > 10:
                said = time.monotonic()
                print(f"bench: {done:,} of {artifacts:,} artifacts written", file=sys.stderr)
        began = time.perf_counter()
        memory.move(Mark(1, 1))
        memory.settle()
        taken["blackbird"] += time.perf_counter() - began
        files.put_in_place(home.derived, memory.path)
    for name, peer in (("plain FTS5", plain), ("tantivy", tantivy)):
        began = time.perf_counter()
        if peer is not None:
            peer.finish()
        taken[name] += time.perf_counter() - began
    _pose_as_synced(home)
    return taken


def _pose_as_synced(home: Home) -> None:
    """A trace that has nothing that the memory does not have."""
    home.trace.mkdir()
    fields = struct.pack("<QQQ", 1, 1, 0)
    (home.trace / "synced").write_bytes(fields + struct.pack("<I", zlib.crc32(fields)))


def _size(path: Path) -> int:
    found = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.lstat().st_size for each in found if not each.is_symlink())
