"""What reaches a terminal, a pipe and a narrow encoding."""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.blackbox.cli.command import BLACKBOX, NIGHT_SHIFT, environment, run, write_log

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")
#: Whatever could steer a terminal: control characters but line feed and tab, and those that turn text around.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \x08\x7f\x85 \u202eevil"
COMMANDS = [
    ["validate", "--verbose"],
    ["validate", "--json"],
    ["stats"],
    ["stats", "--json"],
    ["parse", "--full"],
    ["parse", "--json"],
    ["fix", "--renumber-steps"],
    ["fix", "--json", "--renumber-steps"],
]


def on_terminal(*arguments: str | Path, **changes: str) -> str:
    """What a terminal of 80 columns gets."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    env = environment(TERM="xterm-256color", COLUMNS="80", **changes)
    with subprocess.Popen(
        [BLACKBOX, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env
    ) as process:
        os.close(theirs)
        got = b""
        while True:
            # Linux fails the read when the other side has closed, other systems give no more bytes.
            with contextlib.suppress(OSError):
                block = os.read(ours, 1 << 16)
                got += block
                if block:
                    continue
            break
        os.close(ours)
        assert process.wait(timeout=60) in (0, 1, 3)
    return got.decode()


@pytest.mark.requirement("CMD-08")
def test_terminal_gets_colour() -> None:
    got = on_terminal("validate", NIGHT_SHIFT)
    assert COLOUR.search(got)
    assert "✓" in got


@pytest.mark.requirement("CMD-08")
def test_terminal_gets_no_colour_where_the_user_wants_none() -> None:
    got = on_terminal("validate", NIGHT_SHIFT, NO_COLOR="1")
    assert not COLOUR.search(got)
    assert "✓" in got


@pytest.mark.requirement("CMD-08")
def test_errors_on_a_terminal_have_colour_too() -> None:
    assert COLOUR.search(on_terminal("validate", "nope.bbox"))


@pytest.mark.requirement("CMD-08")
@pytest.mark.parametrize("arguments", [["validate"], ["stats"], ["fix", "--arrows"], ["parse"]])
def test_pipe_gets_no_escape_codes(tmp_path: Path, arguments: list[str]) -> None:
    log = write_log(tmp_path, "a.bbox", "t:read a -> [ok]\nwhat\n")
    done = run(*arguments, log, "nope.bbox", env=environment(TERM="xterm-256color"))
    assert "\x1b" not in done.out + done.err


def test_list_of_rules_fits_a_terminal() -> None:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("explain")).split("\r\n")
    assert max(map(len, lines)) <= 80


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    header = f"---\nformat: bbox/1\nid: {HOSTILE}\nrepo_sha: 4f2a9c1\nmodel: {HOSTILE}\n---\n"
    body = f"u: {HOSTILE} step=4\n{HOSTILE}\nt:{HOSTILE} a → [ok] {HOSTILE}\n  {HOSTILE}\n@{HOSTILE}\n"
    log = tmp_path / f"\x1b[31m{os.getpid()}.bbox"
    log.write_text(header + body)
    return log


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_log_cannot_steer_the_terminal(hostile: Path, arguments: list[str]) -> None:
    done = run(*arguments, hostile)
    text = re.sub("[\u202a-\u202e\u2066-\u2069]", "", done.out) if "--json" in arguments else done.out
    assert not STEERING.search(text + done.err)
    assert "evil" in done.out


def test_file_name_cannot_steer_the_terminal(hostile: Path) -> None:
    for done in (
        run(folder=hostile.parent),
        run("validate", f"{hostile}\x1b[31m"),
        run("fix", hostile, "--all", "--write"),
    ):
        assert done.out + done.err
        assert not STEERING.search(done.out + done.err)


def test_terminal_gets_the_same_text_as_a_pipe_where_a_log_is_hostile(hostile: Path) -> None:
    assert not STEERING.search(re.sub(r"\x1b\[[0-9;]*m|\r\n", "", on_terminal("parse", hostile)))


@pytest.mark.parametrize(
    "arguments", [["validate"], ["parse"], ["parse", "--json"], ["explain"], ["explain", "--json"]], ids=" ".join
)
def test_narrow_encoding_fails_nothing(arguments: list[str]) -> None:
    logs = [] if "explain" in arguments else [NIGHT_SHIFT]
    done = run(*arguments, *logs, env=environment(PYTHONIOENCODING="ascii"))
    assert (done.code, done.err) == (0, "")
    if "--json" in arguments:
        assert "→" in done.out
    else:
        assert done.out.isascii()


@pytest.mark.parametrize("changes", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_plain_locale_fails_nothing(changes: dict[str, str]) -> None:
    for arguments in (["parse", NIGHT_SHIFT], ["validate", "nöpe.bbox"]):
        done = run(*arguments, env=environment(**changes))
        assert done.code == (3 if "nöpe.bbox" in arguments else 0)
        assert "Traceback" not in done.err


@pytest.fixture
def large(tmp_path: Path) -> Path:
    for n in range(40):
        shutil.copy(NIGHT_SHIFT, tmp_path / f"{n}.bbox")
    return tmp_path


@pytest.mark.parametrize(
    "arguments", [["validate", "--verbose"], ["parse"], ["parse", "--json"], ["stats", "--json"]], ids=" ".join
)
def test_reader_that_has_seen_enough_ends_the_command_quietly(large: Path, arguments: list[str]) -> None:
    with subprocess.Popen(
        [BLACKBOX, *arguments, str(large)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    "arguments", [["--version"], ["explain", "L003"], ["explain", "--json"], ["parse", "--header"]], ids=" ".join
)
def test_reader_that_never_reads_ends_a_short_command_quietly(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    logs = [str(NIGHT_SHIFT)] if "parse" in arguments else []
    done = subprocess.run(
        [BLACKBOX, *arguments, *logs],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.requirement("CMD-04")
def test_full_disk_behind_standard_output_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [BLACKBOX, "parse", str(NIGHT_SHIFT)], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert done.returncode == 3
    assert done.stderr.decode() == "✗ standard output: No space left on device\n  check the disk it is written to\n"
