"""Each kind of bad input has its own message and exit code, in the words of the real command."""

import ctypes
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.blackbox.cli.command import BLACKBOX, HEADER, Done, environment, run

GOOD = HEADER.encode()
POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


def validated(tmp_path: Path, data: bytes, *options: str) -> tuple[int, str, list[str]]:
    """Exit code, first line, and the findings and verdict below the statistics."""
    (tmp_path / "bad.bbox").write_bytes(data)
    done = run("validate", *options, "bad.bbox", folder=tmp_path)
    assert done.err == ""
    first, *_ = done.out.split("\n", 1)
    below = done.out.split("    Redacted:     ")[1].split("\n\n", 1)[1]
    return done.code, first, [line.strip() for line in below.splitlines() if line]


def invalid(finding: str, infos: int = 0) -> tuple[int, str, list[str]]:
    rule = finding.split()[3]
    hint = [f"{infos} info finding{'s' if infos != 1 else ''}: --verbose shows them"] if infos else []
    verdict = ["✗ Not a valid BlackBox file: 1 error", *hint, f"What to do: blackbox explain {rule}"]
    return 1, "✗ bad.bbox", [finding, *verdict]


@pytest.mark.requirement("BAD-01", "BAD-11", "HEAD-03")
def test_missing_header(tmp_path: Path) -> None:
    expected = "line 1: error H001 header-missing: the file does not start with `---` and a header"
    assert validated(tmp_path, b"u: Hello\n") == invalid(expected)


@pytest.mark.requirement("BAD-02", "BAD-11")
def test_empty_id(tmp_path: Path) -> None:
    expected = "line 3: error H005 field-empty: the required field `id` is empty"
    assert validated(tmp_path, GOOD.replace(b"id: sess_1", b"id:")) == invalid(expected)


@pytest.mark.requirement("BAD-03", "BAD-11", "HEAD-04")
def test_wrong_version_is_a_warning(tmp_path: Path) -> None:
    data = GOOD.replace(b"bbox/1", b"bbox/2")
    expected = [
        "line 2: warning H007 format-version: `bbox/2` is not version 1",
        "✓ Valid BlackBox file, 1 warning",
        "What to do: blackbox explain H007",
    ]
    assert validated(tmp_path, data) == (0, "✓ bad.bbox", expected)
    assert validated(tmp_path, data, "--strict") == (1, "✓ bad.bbox", expected)


@pytest.mark.requirement("BAD-03", "BAD-11", "HEAD-04")
def test_foreign_format(tmp_path: Path) -> None:
    expected = "line 2: error H006 format-unknown: `foo/1` is neither bbox/1 nor rlog/1"
    assert validated(tmp_path, GOOD.replace(b"bbox/1", b"foo/1")) == invalid(expected)


@pytest.mark.requirement("BAD-04", "BAD-11")
def test_bad_yaml(tmp_path: Path) -> None:
    expected = "line 5: error H003 header-yaml: mapping values are not allowed here"
    assert validated(tmp_path, GOOD.replace(b"branch: main", b"branch: a: b")) == invalid(expected)


@pytest.mark.requirement("BAD-05", "BAD-11")
@pytest.mark.parametrize("start", ["t:read a → ", "  "], ids=["result", "continuation"])
def test_line_of_ten_megabytes(tmp_path: Path, start: str) -> None:
    data = GOOD + b"u: Hello\n" + start.encode() + b"x" * 10_000_000 + b"\n"
    begun = time.monotonic()
    code, first, below = validated(tmp_path, data)
    assert time.monotonic() - begun < 30
    assert (code, first) == (0, "✓ bad.bbox")
    assert "line 10: warning T007 long-line: the line is 9.5 MiB long" in below
    assert below[-1].startswith("What to do: blackbox explain ")


@pytest.mark.requirement("BAD-06", "BAD-11")
def test_nul_bytes(tmp_path: Path) -> None:
    expected = "line 9:5: error T005 nul-byte: 3 NUL byte(s)"
    assert validated(tmp_path, GOOD + b"u: a\0\0\0b\n") == invalid(expected)


@pytest.mark.requirement("BAD-07", "BAD-11")
def test_binary_file(tmp_path: Path) -> None:
    expected = "line 1: error T006 binary-file: this is a binary file, not a log"
    assert validated(tmp_path, b"\x7fELF\x02\x01\x01\0" + bytes(range(256)) * 100) == invalid(expected)


@pytest.mark.requirement("BAD-11")
def test_empty_file(tmp_path: Path) -> None:
    assert validated(tmp_path, b"") == invalid("line 1: error T008 empty-file: the file is empty")


@pytest.mark.requirement("BAD-10", "BAD-11")
def test_truncated_utf8(tmp_path: Path) -> None:
    expected = "line 9:4: error T003 bad-utf8: bytes e2 86 are not UTF-8 (cut at the end of the line)"
    assert validated(tmp_path, GOOD + "u: →".encode()[:-1]) == invalid(expected, infos=1)


@pytest.mark.requirement("BAD-08", "BAD-11", "CMD-06")
def test_folder_without_logs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("validate", "empty", folder=tmp_path) == (
        3,
        "",
        "✗ empty: no .bbox, .blackbox, .rlog file below it\n  name a log, a folder or a pattern\n",
    )


@pytest.mark.requirement("BAD-11", "CMD-06")
@pytest.mark.parametrize("command", ["validate", "stats", "parse", "fix"])
def test_file_that_is_not_there(tmp_path: Path, command: str) -> None:
    done = run(command, "nope.bbox", folder=tmp_path)
    assert done == (3, "", "✗ nope.bbox: no such file\n  check the path\n")


@pytest.mark.requirement("BAD-11", "CMD-06")
def test_path_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.bbox").write_bytes(GOOD)
    done = run("validate", "a.bbox/b.bbox", folder=tmp_path)
    assert done == (3, "", "✗ a.bbox/b.bbox: Not a directory\n  check the disk and the path\n")


PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def without_privileges() -> None:
    """Take from root what lets it pass over permissions, so that the command is refused as anyone would be."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "the capability could not be dropped")


def run_refused(*arguments: str, folder: Path) -> Done:
    done = subprocess.run(
        [BLACKBOX, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(),
        timeout=60,
        check=False,
        preexec_fn=without_privileges if os.geteuid() == 0 else None,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@POSIX
@pytest.mark.requirement("BAD-09", "BAD-11", "CMD-06")
def test_file_without_read_permission(tmp_path: Path) -> None:
    log = tmp_path / "secret.bbox"
    log.write_bytes(GOOD)
    log.chmod(0)
    remedy = "make the file readable for you, or run as its owner"
    expected = (3, "", f"✗ secret.bbox: permission denied\n  {remedy}\n")
    assert run_refused("validate", "secret.bbox", folder=tmp_path) == expected
    done = run_refused("stats", "--json", "secret.bbox", folder=tmp_path)
    assert (done.code, done.out) == (3, "")
    error = {"code": "read_failed", "message": "secret.bbox: permission denied", "remedy": remedy}
    assert json.loads(done.err) == error


@POSIX
@pytest.mark.requirement("BAD-09", "BAD-11", "CMD-06")
def test_folder_without_read_permission(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    done = run_refused("validate", "closed", folder=tmp_path)
    closed.chmod(0o755)
    assert done == (3, "", "✗ closed: Permission denied\n  make the folder readable, or leave it out\n")


@POSIX
@pytest.mark.requirement("BAD-12", "BAD-11")
def test_folder_in_which_nothing_may_be_written(tmp_path: Path) -> None:
    log = tmp_path / "a.bbox"
    log.write_bytes(GOOD + b"t:read a -> [ok]\n")
    tmp_path.chmod(0o555)
    done = run_refused("fix", "a.bbox", "--arrows", "--write", folder=tmp_path)
    tmp_path.chmod(0o755)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "✗ a.bbox: could not be written: Permission denied\n"
        "  check the folder's permissions and free space; nothing was changed\n"
    )
    assert log.read_bytes() == GOOD + b"t:read a -> [ok]\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bbox"]
