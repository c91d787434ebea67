"""Logs on disk: whole, as a stream in constant memory, and while they grow."""

import io
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blackbox
from blackbox.document.files import EXTENSIONS, Follower
from blackbox.document.line import Line
from blackbox.syntax.kinds import Kind

HEADER = b"---\nformat: bbox/1\nid: s\nrepo_sha: 1a2b3c4\n---\n"
PATIENCE = 30.0


class Tail:
    """A thread that follows a file and hands over what it sees."""

    def __init__(self, path: Path) -> None:
        self.seen: Queue[Line] = Queue()
        self.stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(path,), daemon=True)
        self._thread.start()

    def _run(self, path: Path) -> None:
        for line in blackbox.follow(path, poll_seconds=0.01, stop=self.stopped.is_set):
            self.seen.put(line)

    def next(self) -> str:
        return "\n".join(self.seen.get(timeout=PATIENCE).physical_lines)

    def stop(self) -> None:
        self.stopped.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "s.bbox"
    path.write_bytes(HEADER)
    return path


@pytest.fixture
def tail(log: Path) -> Iterator[Tail]:
    tail = Tail(log)
    yield tail
    tail.stop()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as out:
        out.write(data)


@pytest.mark.requirement("FLOW-03")
def test_followed_lines_come_once_each_and_in_order(log: Path, tail: Tail) -> None:
    for number in range(50):
        append(log, b"u: %d\n" % number)
    assert [tail.next() for _ in range(50)] == [f"u: {number}" for number in range(50)]
    assert tail.seen.empty()


@pytest.mark.requirement("FLOW-03", "FLOW-04")
def test_incomplete_last_line_waits_for_its_line_feed(log: Path, tail: Tail) -> None:
    append(log, b"u: first\nt:read src/ma")
    assert tail.next() == "u: first"
    time.sleep(0.1)
    assert tail.seen.empty()
    append(log, b"in.py \xe2\x86")
    append(log, b"\x92 [ok]\n")
    assert tail.next() == "t:read src/main.py → [ok]"


@pytest.mark.requirement("FLOW-03", "LAYOUT-04")
def test_continuations_written_at_once_come_with_their_line(log: Path, tail: Tail) -> None:
    append(log, b"a: first\n  second\n\tthird\nu: next\n")
    assert tail.next() == "a: first\n  second\n\tthird"
    assert tail.next() == "u: next"


def test_continuation_that_comes_late_is_an_entry_of_its_own(log: Path, tail: Tail) -> None:
    append(log, b"a: first\n")
    assert tail.next() == "a: first"
    append(log, b"  second\n")
    assert tail.next() == "  second"


def test_replaced_file_is_read_from_its_start(log: Path, tail: Tail) -> None:
    append(log, b"u: old\n")
    assert tail.next() == "u: old"
    new = log.with_suffix(".new")
    new.write_bytes(HEADER + b"u: new\n")
    new.replace(log)
    assert tail.next() == "u: new"


def test_last_words_of_a_replaced_file_are_not_lost(log: Path) -> None:
    log.write_bytes(HEADER + b"u: seen\n")
    lines = blackbox.follow(log, poll_seconds=0.2)
    assert next(lines).source == "u: seen"
    append(log, b"u: written just before\nu: cut o")
    new = log.with_suffix(".new")
    new.write_bytes(b"u: new\n")
    new.replace(log)
    assert [next(lines).source for _ in range(3)] == ["u: written just before", "u: cut o", "u: new"]


def test_file_cut_short_is_read_from_its_start(log: Path, tail: Tail) -> None:
    append(log, b"u: a rather long line of the old text\n")
    assert tail.next() == "u: a rather long line of the old text"
    log.write_bytes(b"")
    time.sleep(0.2)
    append(log, b"u: again\n")
    assert tail.next() == "u: again"


def test_removed_file_is_waited_for(log: Path, tail: Tail) -> None:
    append(log, b"u: one\n")
    assert tail.next() == "u: one"
    log.unlink()
    time.sleep(0.1)
    log.write_bytes(b"u: two\n")
    assert tail.next() == "u: two"


@pytest.mark.requirement("FLOW-03")
def test_file_written_by_another_process(log: Path, tail: Tail) -> None:
    script = """
import sys, time
with open(sys.argv[1], "ab", buffering=0) as out:
    for n in range(20):
        out.write(b"t:x id=c%d" % n); time.sleep(0.005); out.write(b" \\xe2\\x86\\x92 [ok]\\n")
"""
    subprocess.run([sys.executable, "-c", script, str(log)], check=True, timeout=60)
    assert [tail.next() for _ in range(20)] == [f"t:x id=c{n} → [ok]" for n in range(20)]


@pytest.mark.requirement("FLOW-04")
def test_incomplete_last_line_is_shown_as_pending() -> None:
    scanner = blackbox.scan(io.BytesIO(b"")).scanner
    assert scanner.feed(b"u: one\nu: tw") == []
    assert scanner.pending == b"u: tw"
    assert [line.source for line in scanner.feed(b"o\n")] == ["u: one"]
    assert scanner.pending == b""


class Endless(io.RawIOBase):
    """A log of `megabytes` that exists nowhere."""

    LINE = 't:grep id=call_7 pattern="TODO" path=src step=9 → [12 matches] in 3 files\n  src/a.py:1\n'.encode()

    def __init__(self, megabytes: int) -> None:
        self.left = megabytes << 20

    def read(self, size: int = -1) -> bytes:
        size = min(size, self.left)
        self.left -= size
        return (self.LINE * (size // len(self.LINE) + 1))[:size]


@pytest.mark.requirement("FLOW-01")
def test_stream_needs_the_same_memory_however_long_it_is() -> None:
    def peak(megabytes: int) -> int:
        tracemalloc.start()
        for line in blackbox.scan(Endless(megabytes)):  # type: ignore[arg-type]  # a raw stream reads as a file does
            assert line.kind
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    small, large = peak(2), peak(30)
    assert large < small * 1.5
    assert large < 8 << 20


def test_header_of_a_stream_is_known_with_the_first_entry() -> None:
    stream = blackbox.scan(io.BytesIO(HEADER + b"u: hi\n"), block_size=7)
    assert next(iter(stream)).source == "u: hi"
    assert stream.header is not None
    assert stream.header.id == "s"


def test_read_document(log: Path) -> None:
    append(log, b"u: hi\n")
    assert [line.source for line in blackbox.read_document(log).lines] == ["u: hi"]


def test_missing_file_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(blackbox.ReadError) as caught:
        blackbox.read_document(tmp_path / "none.bbox")
    assert caught.value.message == f"{tmp_path / 'none.bbox'}: no such file"
    assert caught.value.remedy == "check the path"


def test_directory_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(blackbox.ReadError, match="is a directory"):
        blackbox.read_document(tmp_path)


def test_following_a_missing_file_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(blackbox.ReadError, match="no such file"):
        next(iter(blackbox.follow(tmp_path / "none.bbox")))


def test_extensions() -> None:
    assert EXTENSIONS == (".bbox", ".blackbox", ".rlog")


WRITE_ROTATED = """
import sys
from blackbox import Writer
with Writer.create(sys.argv[1], rotate_bytes=600, id="s", repo_sha="1a2b3c4", steps=False, timestamps=False) as log:
    for n in range(200):
        log.user(f"message {n}")
"""


def said(lines: list[str]) -> list[str]:
    return [source for source in lines if source.startswith("u:")]


@pytest.mark.requirement("AUDIT-07")
def test_session_is_followed_across_its_parts_while_another_process_writes_them(tmp_path: Path) -> None:
    log = tmp_path / "s.bbox"
    with subprocess.Popen([sys.executable, "-c", WRITE_ROTATED, str(log)]):
        follower = Follower(log, wait=True, poll_seconds=0.01)
        seen: list[str] = []
        for line in follower:
            seen.append(line.source)
            if line.source == "u: message 199":
                break
    assert said(seen) == [f"u: message {number}" for number in range(200)]
    assert len(list(tmp_path.glob("s*.bbox"))) > 3
    assert Path(follower.path).name != "s.bbox"


def test_plain_follow_stays_with_its_file_unless_asked(tmp_path: Path) -> None:
    first, second = tmp_path / "a.bbox", tmp_path / "b.bbox"
    first.write_bytes(HEADER + b"u: one\n@rotate file=b.bbox\n")
    second.write_bytes(HEADER + b"u: two\n")
    lines = blackbox.follow(first, poll_seconds=0.01, rotated=True)
    assert [next(lines).source for _ in range(3)] == ["u: one", "@rotate file=b.bbox", "u: two"]
    stops = iter([False, False, True, True])
    plain = blackbox.follow(first, poll_seconds=0.01, stop=lambda: next(stops))
    assert [line.source for line in plain] == ["u: one", "@rotate file=b.bbox"]


@pytest.mark.requirement("AUDIT-07")
def test_part_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    first, second = tmp_path / "a.bbox", tmp_path / "b.bbox"
    first.write_bytes(HEADER + b"@rotate file=b.bbox\n")

    def idle() -> None:
        second.write_bytes(HEADER + b"u: two\n")

    lines = iter(Follower(first, poll_seconds=0.01, idle=idle))
    assert [next(lines).source for _ in range(2)] == ["@rotate file=b.bbox", "u: two"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../b.bbox", "outside the folder of the log"),
        ("https://logs.example/b.bbox", "not a local file"),
        ("folder", "not a regular file"),
        ("a.bbox", "this part has been read already"),
    ],
)
def test_part_elsewhere_is_refused_and_reading_goes_on(tmp_path: Path, name: str, reason: str) -> None:
    inner = tmp_path / "logs"
    (inner / "folder").mkdir(parents=True)
    (tmp_path / "b.bbox").write_bytes(b"u: secret\n")
    log = inner / "a.bbox"
    log.write_bytes(HEADER + f"@rotate file={name}\nu: after\n".encode())
    follower = Follower(log, live=False)
    assert [line.source for line in follower] == [f"@rotate file={name}", "u: after"]
    assert follower.refused == f"{name}: {reason}"


@pytest.mark.requirement("AUDIT-07")
def test_log_that_is_not_live_is_read_to_its_torn_end(tmp_path: Path) -> None:
    log = tmp_path / "a.bbox"
    log.write_bytes(HEADER + b"u: one\nu: tw")
    follower = Follower(log, live=False)
    assert [line.source for line in follower] == ["u: one", "u: tw"]
    assert follower.is_torn


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    bodies=st.lists(
        st.sampled_from(["u: hi\n", "  more\n", "\n", "\tmore\n", " u: odd\n", "x" * 3000 + "\n"]), max_size=400
    ),
    count=st.integers(0, 100),
)
def test_reading_near_the_end_gives_the_last_entries_with_their_numbers(
    tmp_path: Path, bodies: list[str], count: int
) -> None:
    log = tmp_path / "a.bbox"
    log.write_bytes(HEADER + "".join(bodies).encode())
    whole = [(line.number, line.physical_lines) for line in Follower(log, live=False) if line.kind is not Kind.BLANK]
    near = Follower(log, live=False, last=count)
    end = [(line.number, line.physical_lines) for line in near if line.kind is not Kind.BLANK]
    assert len(end) >= min(count, len(whole))
    assert end == whole[len(whole) - len(end) :]


def test_reading_near_the_end_of_a_long_log_keeps_escapes_and_skips_the_rest(tmp_path: Path) -> None:
    log = tmp_path / "a.bbox"
    log.write_bytes(b"---\nformat: bbox/1\nescape: 1\n---\n" + b"u: filler line\n" * 100_000 + b"u: a\\nb\n")
    lines = list(Follower(log, live=False, last=5))
    assert len(lines) == 64
    assert (lines[-1].number, lines[-1].escaped) == (100_005, True)


def test_next_part_is_named_as_the_first_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.bbox").write_bytes(HEADER + b"@rotate file=b.bbox\n")
    Path("b.bbox").write_bytes(HEADER + b"u: two\n")
    follower = Follower("a.bbox", live=False)
    assert [line.source for line in follower] == ["@rotate file=b.bbox", "u: two"]
    assert follower.path == Path("b.bbox")


def test_missing_part_of_a_log_that_is_not_live_is_told_and_costs_nothing_of_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "a.bbox"
    log.write_bytes(HEADER + b"u: one\n@rotate file=b.bbox\n")
    follower = Follower(log, live=False)
    assert [line.source for line in follower] == ["u: one", "@rotate file=b.bbox"]
    assert follower.refused == f"{tmp_path / 'b.bbox'}: no such file"


def test_part_that_appears_late_is_read_whole_though_only_the_end_was_asked_for(tmp_path: Path) -> None:
    first, second = tmp_path / "a.bbox", tmp_path / "b.bbox"
    first.write_bytes(HEADER + b"@rotate file=b.bbox\n")
    filler = b"u: " + b"x" * 1000 + b"\n"

    def idle() -> None:
        if not second.exists():
            second.write_bytes(HEADER + filler * 1000)

    lines = iter(Follower(first, last=1, poll_seconds=0.01, idle=idle))
    assert [next(lines).number for _ in range(1001)] == [6, *range(6, 1006)]
