"""One writer that is killed again and again, and readers who never notice."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from blackbird import derive
from blackbird.home import Home
from blackbird.store import files
from blackbird.store.memory import Reader
from blackbird.store.writing import Writing
from tests.blackbird.flights import Flight
from tests.blackbird.logbook import Logbook

ROOT = Path(__file__).parents[3]
COUNT = 40
#: Puts a session into the memory again and again, all of its artifacts with the same word, and now and then makes a
#: new file of it all.
WRITER = """
import itertools, sys
from pathlib import Path
from blackbird.store import files
from blackbird.store.writing import Writing
from tests.blackbird.store.test_memory import made

folder = Path(sys.argv[1])
with files.locked(folder):
    path = files.current(folder)
    memory = Writing(path) if path is not None else None
    for number in itertools.count():
        artifacts = [made(f"{number}", key=str(at)) for at in range(int(sys.argv[2]))]
        if memory is None or number % 20 == 19:
            new = Writing.new(folder, "1", None)
            new.put("s1", artifacts)
            new.settle()
            if memory is not None:
                memory.close()
            files.put_in_place(folder, new.path)
            memory = new
            print("new", flush=True)
        memory.put("s1", artifacts)
"""
#: Derives the memory of a home again and again.
DERIVER = """
import sys
from pathlib import Path
from blackbird import derive
from blackbird.home import Home

home = Home(Path(sys.argv[1]), Path(sys.argv[1], "config.toml"))
print("ready", flush=True)
while True:
    derive.rebuild(home)
    derive.catch_up(home)
"""


def started(program: str, *words: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen([sys.executable, "-c", program, *words], env=environment, stdout=subprocess.PIPE)


def killed(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


class Watcher(threading.Thread):
    """Reads the memory for as long as it is let, each time all of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.stopping = threading.Event()
        self.looks = 0
        self.failures: list[str] = []

    def run(self) -> None:
        with Reader(self._folder) as reader:
            while not self.stopping.is_set():
                memory = reader.memory
                if memory is None:
                    continue
                try:
                    words = [stored.artifact.title for stored in memory.find(session="s1")]
                except Exception as error:  # noqa: BLE001 - whatever it is, the test is to tell it
                    self.failures.append(repr(error))
                    return
                if len(words) != COUNT or len(set(words)) != 1:
                    self.failures.append(f"{len(words)} artifacts with {len(set(words))} words")
                self.looks += 1


@pytest.mark.requirement("STORE-03")
def test_readers_see_whole_sessions_while_the_writer_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "derived"
    writer = started(WRITER, str(folder), str(COUNT))
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"new\n"
    watchers = [Watcher(folder) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    rng = random.Random(1)  # noqa: S311 - chance, not secrecy
    try:
        for _ in range(4):
            time.sleep(rng.uniform(0.2, 0.6))
            killed(writer)
            path = files.current(folder)
            assert path is not None
            with files.locked(folder), Writing(path) as memory:
                assert memory._database.pragma("integrity_check") == "ok"
            writer = started(WRITER, str(folder), str(COUNT))
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"new\n"
    finally:
        for watcher in watchers:
            watcher.stopping.set()
        for watcher in watchers:
            watcher.join()
        killed(writer)
    assert [watcher.failures for watcher in watchers] == [[], [], []]
    assert all(watcher.looks > 10 for watcher in watchers)


@pytest.mark.requirement("CORE-02", "STORE-03")
def test_a_derivation_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", tmp_path / "home" / "config.toml")
    book = Logbook()
    flight = Flight("messages")
    for number in range(40):
        book.exchange(flight.turn(f"Mend {number}.", says=f"Done {number}."))
    home.path.mkdir()
    book.save(home.trace)
    derive.catch_up(home)
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        expected = list(reader.memory.dump())
    assert len(expected) == 82
    rng = random.Random(2)  # noqa: S311 - chance, not secrecy
    for _ in range(4):
        process = started(DERIVER, str(home.path))
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(rng.uniform(0.05, 0.5))
        killed(process)
        with Reader(home.derived) as reader:
            assert reader.memory is not None
            assert list(reader.memory.dump()) == expected
        derive.catch_up(home)
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        assert list(reader.memory.dump()) == expected
    assert sum(path.suffix == ".db" and not path.is_symlink() for path in home.derived.iterdir()) <= 2
