"""What is no log is refused with a reason, and other logs go on."""

from pathlib import Path

import pytest

from tests.blackbox.cli.command import HEADER, run, write_log

COMMANDS = [("audit",), ("cost",), ("grep", "."), ("tail", "--no-follow")]
JSON = b'{"type":"user","message":{"content":"Go."}}\n'
NO_LOG = "✗ {}: this is no log: none of its lines is one of a log\n  name a .bbox, .blackbox or .rlog file\n"


@pytest.mark.parametrize("command", [*COMMANDS, ("tail",)])
@pytest.mark.parametrize("before", [b"", b"\n", b"\xef\xbb\xbf"])
def test_json_lines_are_no_log(tmp_path: Path, command: tuple[str, ...], before: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(before + JSON)
    done = run(*command, "a.jsonl", folder=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "✗ a.jsonl: this is JSON lines and no log\n"
        "  name the .rlog or .bbox, or make a log of it: blackbox export a.jsonl --format bbox\n"
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [b"\x7fELF\x00\x01\n\xff\xfe", b"root:x:0:0\n" * 3000])
def test_other_files_are_no_log(tmp_path: Path, command: tuple[str, ...], content: bytes) -> None:
    (tmp_path / "thing").write_bytes(content)
    assert run(*command, "thing", folder=tmp_path) == (3, "", NO_LOG.format("thing"))


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_input_is_looked_at_too(command: tuple[str, ...]) -> None:
    done = run(*command, "-", stdin=JSON)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("✗ standard input: this is JSON lines and no log\n")


@pytest.mark.parametrize("command", ["audit", "cost"])
def test_nothing_can_be_said_of_an_empty_file(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.bbox").write_bytes(b"\n")
    done = run(command, "a.bbox", folder=tmp_path)
    assert (done.code, done.out, done.err.splitlines()[0]) == (3, "", "✗ a.bbox: it is empty")


def test_empty_log_has_no_entries_to_find_or_show(tmp_path: Path) -> None:
    (tmp_path / "a.bbox").write_bytes(b"")
    assert run("grep", "x", "a.bbox", folder=tmp_path).code == 1
    assert run("tail", "--no-follow", "a.bbox", folder=tmp_path) == (0, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_log_with_a_header_is_one_whatever_its_lines_are(tmp_path: Path, command: tuple[str, ...]) -> None:
    write_log(tmp_path, "a.bbox", JSON)
    assert run(*command, "a.bbox", folder=tmp_path).code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_log_without_a_header_is_one_by_its_lines(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "a.bbox").write_bytes(b"stray\nu: Hello\n")
    assert run(*command, "a.bbox", folder=tmp_path).code == 0


def test_other_logs_go_on_and_the_log_beside_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(JSON)
    (tmp_path / "a.rlog").write_text(HEADER + "u: Hello\n")
    done = run("audit", "a.jsonl", "a.rlog", folder=tmp_path)
    assert (done.code, done.out.splitlines()[0]) == (3, "Audit of a.rlog")
    assert "  name a.rlog, or make a log of it: " in done.err
