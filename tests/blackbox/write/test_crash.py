"""A writer that is stopped at any moment: every line that is whole leads to a blob that is there and whole."""

import errno
import hashlib
import io
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from blackbox import Kind, parse, read_document
from blackbox.disk import FILE_MODE
from blackbox.document.line import Line
from blackbox.errors import WriteError
from blackbox.syntax.results import BLOB
from blackbox.vault.store import BlobStore, State
from blackbox.write import Durability, Writer
from blackbox.write.results import err, lines, ok
from blackbox.write.sink import FileSink

HEADER: dict[str, Any] = {"id": "s", "repo_sha": "abc1234", "start": False}


def names_of(found: Iterable[Line]) -> list[str]:
    """The hashes that whole lines name."""
    return [match[1] for line in found for match in BLOB.finditer(line.source)]


def log_long_results(log: Writer) -> None:
    for number in range(4):
        text = f"{number}\n" + "é→x" * 400
        log.tool("read", f"file {number}", result=text)
        log.tool("build", result=err(f"failed\n{text}!"))
        log.observe("call_1", lines(402, f"{text}?"))
        log.agent("short")
        log.tool("read", "again", result=ok(text))
        log.agent("x", sig=log.blob(f"bytes {number}".encode(), "text/plain").blob.sha256)  # type: ignore[union-attr]


@pytest.mark.requirement("BLOB-12", "WRITE-04")
@pytest.mark.parametrize("durability", list(Durability))
def test_a_log_cut_at_any_byte_names_only_blobs_that_were_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: Durability
) -> None:
    done: list[bytes | str] = []
    replace, write = os.replace, FileSink.write

    def note_replace(source: str, target: Path) -> None:
        replace(source, target)
        done.append(target.name)

    def note_write(sink: FileSink, data: bytes) -> None:
        done.append(data)
        write(sink, data)

    monkeypatch.setattr(os, "replace", note_replace)
    monkeypatch.setattr(FileSink, "write", note_write)
    path = tmp_path / "s.bbox"
    with Writer.create(path, durability=durability, **HEADER) as log:
        log_long_results(log)
    monkeypatch.undo()
    kept: set[str] = set()
    written = b""
    for step in done:
        if isinstance(step, str):
            kept.add(step)
            continue
        for end in range(len(step) + 1):
            found = parse(written + step[:end]).lines
            whole = found if (written + step[:end]).endswith(b"\n") else found[:-1]
            assert set(names_of(whole)) <= kept
        written += step
    assert written == path.read_bytes()
    named = names_of(read_document(path).lines)
    assert len(named) == 16
    assert len(set(named)) == 12
    assert kept == {*named, ".gitignore", *(hashlib.sha256(f"bytes {n}".encode()).hexdigest() for n in range(4))}
    assert {verdict.state for verdict in BlobStore.beside(path).verify()} == {State.OK}


def test_a_blob_is_on_the_disk_before_its_line_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    path = tmp_path / "s.bbox"
    log = Writer.create(path, durability=Durability.FSYNC, **HEADER)
    log.tool("read", result="y" * 2000)
    names = {path.stat().st_ino: "log", (tmp_path / ".bbox-blobs").stat().st_ino: "folder"}
    replace, fsync, write = os.replace, os.fsync, FileSink.write

    def note_replace(source: str, target: Path) -> None:
        done.append("rename blob")
        replace(source, target)

    def note_sync(handle: int) -> None:
        done.append(f"sync {names.get(os.fstat(handle).st_ino, 'blob')}")
        fsync(handle)

    def note_write(sink: FileSink, data: bytes) -> None:
        done.append("write log")
        write(sink, data)

    monkeypatch.setattr(os, "replace", note_replace)
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(FileSink, "write", note_write)
    log.tool("read", result="x" * 2000)
    assert done == ["sync blob", "rename blob", "sync folder", "write log", "sync log"]
    log.close()


@pytest.mark.requirement("BLOB-12")
@pytest.mark.parametrize("call", ["fsync", "chmod", "replace"])
def test_a_full_disk_leaves_neither_blob_nor_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "s.bbox"
    log = Writer.create(path, durability=Durability.FSYNC, steps=False, timestamps=False, **HEADER)
    log.tool("read", result="y" * 2000)
    before = path.read_bytes(), sorted(path.name for path in (tmp_path / ".bbox-blobs").iterdir())

    def no_space(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, no_space)
        with pytest.raises(WriteError, match="no space left on the device"):
            log.tool("read", result="x" * 2000)
    assert (path.read_bytes(), sorted(path.name for path in (tmp_path / ".bbox-blobs").iterdir())) == before
    log.tool("read", result="x" * 2000)
    log.close()
    assert len(names_of(read_document(path).lines)) == 2
    assert {verdict.state for verdict in BlobStore.beside(path).verify()} == {State.OK}


def test_a_line_that_cannot_be_written_leaves_its_blob_to_be_cleared(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    log = Writer.create(path, **HEADER)
    recording = log._recording

    class Full(io.FileIO):
        def write(self, _data: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    recording._sink.close()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND, FILE_MODE)
    recording._sink = FileSink(Full(handle, "ab"), path, Durability.FLUSH)
    with pytest.raises(WriteError):
        log.tool("read", result="x" * 2000)
    recording.close()
    assert names_of(read_document(path).lines) == []
    assert [verdict.state for verdict in BlobStore.beside(path).verify()] == [State.OK]


CHILD = """
import sys
from blackbox.write import Durability, Writer
log = Writer.create(sys.argv[1], durability=Durability(sys.argv[2]), id="s", repo_sha="abc1234")
print("ready", flush=True)
number = 0
while True:
    number += 1
    log.tool("read", f"file {number}", result=f"{number} of many\\n" * 300)
"""


@pytest.mark.requirement("BLOB-12", "WRITE-04")
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("durability", ["flush", "fsync"])
@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_a_killed_writer_leaves_no_line_without_its_blob(tmp_path: Path, durability: str, attempt: int) -> None:
    path = tmp_path / f"{attempt}.bbox"
    until = random.randrange(1_000, 20_000)  # noqa: S311 - a moment, no secret
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path), durability], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        while path.stat().st_size < until and child.poll() is None:
            pass
        child.send_signal(signal.SIGKILL)
    store = BlobStore.beside(path)
    found = [line for line in read_document(path).lines if line.kind is Kind.TOOL]
    named = names_of(found)
    assert len(named) >= len(found) - 1 > 0
    for number, name in enumerate(named, 1):
        assert store.read(name) == f"{number} of many\n".encode() * 300
    assert {verdict.state for verdict in store.verify()} == {State.OK}
    with Writer.reopen(path) as log:
        log.tool("read", result="z" * 2000)
    assert store.read(names_of(read_document(path).lines)[-1]) == b"z" * 2000
