"""`blackbox tail`: the last entries, then the live ones."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.blackbox.cli import command
from tests.blackbox.cli.command import EXAMPLES, environment, run, write_log

ROTATED = EXAMPLES / "rotated" / "licence-audit.part1.bbox"
WRITE_ROTATED = """
import sys
from blackbox import Writer
with Writer.create(sys.argv[1], rotate_bytes=800, id="s", repo_sha="1a2b3c4", steps=False, timestamps=False) as log:
    for n in range(200):
        log.user(f"message {n}")
"""


@contextmanager
def tailing(*arguments: str | Path, folder: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """A running `blackbox tail`; it must end by Ctrl-C, with 0 and without a word."""
    process = subprocess.Popen(
        [command.BLACKBOX, "tail", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(),
    )
    try:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Traceback" not in process.communicate()[1]
    finally:
        process.kill()
        process.communicate()


def lines_of(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as out:
        out.write(data)


def test_last_entries_with_their_continuations(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: one\nu: two\n\na: three\n  more\n\tand more\n")
    assert run("tail", log, "--no-follow", "-n", "2") == (0, "u: two\na: three\n  more\n\tand more\n", "")


def test_bytes_of_the_log_go_into_a_pipe_as_they_are(tmp_path: Path) -> None:
    body = b"u: bad \xff byte\x1b[31m\r\n"
    log = write_log(tmp_path, "a.bbox", body)
    done = subprocess.run(
        [command.BLACKBOX, "tail", str(log), "--no-follow"], capture_output=True, env=environment(), check=True
    )
    assert done.stdout == body


@pytest.mark.requirement("AUDIT-07")
def test_last_line_that_is_not_whole_is_shown_and_told(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: one\nu: tw")
    done = run("tail", log, "--no-follow")
    assert (done.code, done.out) == (0, "u: one\nu: tw\n")
    assert "has no line end yet" in done.err


@pytest.mark.requirement("AUDIT-07")
def test_end_of_a_rotated_session_is_in_its_last_part() -> None:
    done = run("tail", ROTATED, "--no-follow", "-n", "1", "--json")
    value = json.loads(done.out)
    assert (value["schema"], value["type"], Path(value["file"]).name) == (
        "blackbox.tail/1",
        "comment",
        "licence-audit.part2.bbox",
    )


@pytest.mark.requirement("AUDIT-07")
def test_live_lines_come_whole_though_they_are_written_in_halves(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: old\nu: before\n")
    with tailing(log, "-n", "1") as process:
        out = lines_of(process)
        assert out.readline() == "u: before\n"
        append(log, b"t:read src/ma")
        append(log, b"in.py \xe2\x86")
        append(log, b"\x92 [ok]\n")
        assert out.readline() == "t:read src/main.py → [ok]\n"


@pytest.mark.requirement("AUDIT-07")
def test_log_that_is_not_there_yet_is_waited_for_and_followed_across_rotation(tmp_path: Path) -> None:
    log = tmp_path / "a.bbox"
    with tailing(log, "-n", "500") as process:
        subprocess.run([sys.executable, "-c", WRITE_ROTATED, str(log)], check=True, env=environment())
        seen: list[str] = []
        while not seen or seen[-1] != "u: message 199\n":
            line = lines_of(process).readline()
            assert line
            seen.append(line)
    assert [line for line in seen if line.startswith("u:")] == [f"u: message {number}\n" for number in range(200)]
    assert (tmp_path / "a.part3.bbox").exists()


@pytest.mark.requirement("AUDIT-07")
def test_replaced_log_is_read_again(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: old\n")
    with tailing(log) as process:
        assert lines_of(process).readline() == "u: old\n"
        write_log(tmp_path, "b.bbox", "u: new\n").replace(log)
        assert lines_of(process).readline() == "u: new\n"


def test_newest_log_nearby_without_an_argument(tmp_path: Path) -> None:
    os.utime(write_log(tmp_path, "old.bbox", "u: old\n"), (1, 1))
    write_log(tmp_path, "logs/new.bbox", "u: new\n")
    done = run("tail", "--no-follow", folder=tmp_path)
    assert (done.code, done.out, done.err) == (0, "u: new\n", "logs/new.bbox (the newest of 2 nearby)\n")


def test_nothing_nearby_is_told(tmp_path: Path) -> None:
    done = run("tail", folder=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert "no log is in this folder" in done.err


def test_missing_log_that_is_not_followed_is_an_error(tmp_path: Path) -> None:
    done = run("tail", tmp_path / "none.bbox", "--no-follow")
    assert (done.code, done.out) == (3, "")
    assert "no such file" in done.err


def test_standard_input() -> None:
    assert run("tail", "-", "-n", "1", stdin=b"u: one\nu: two\n") == (0, "u: two\n", "")


def test_reader_that_leaves_ends_it_though_the_log_is_quiet(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: one\n")
    process = subprocess.Popen(
        [command.BLACKBOX, "tail", str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"u: one\n"
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_part_outside_the_folder_is_not_followed(tmp_path: Path) -> None:
    write_log(tmp_path, "b.bbox", "u: elsewhere\n")
    log = write_log(tmp_path, "logs/a.bbox", "@rotate file=../b.bbox\n")
    done = run("tail", log, "--no-follow")
    assert (done.code, done.out) == (0, "@rotate file=../b.bbox\n")
    assert "../b.bbox: outside the folder of the log" in done.err


def test_missing_part_is_told_and_the_rest_shown(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "u: one\n@rotate file=b.bbox\n")
    done = run("tail", log, "--no-follow")
    assert (done.code, done.out) == (0, "u: one\n@rotate file=b.bbox\n")
    assert "b.bbox: no such file" in done.err
