"""`blackbox export`: any form in, any form out, losses named, secrets hidden."""

import json
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from blackbox import ReadError, UsageError
from blackbox.dual import DualRecorder
from blackbox.formats import convert
from blackbox.formats.recognise import Form
from blackbox.keeping import export

LOG = """\
---
format: bbox/1
id: sess_1
repo_sha: abc1234
---

u: Hello

t:read a.rs → [3 lines]
  one
a: token ghp_0123456789abcdefghijABCDEFGHIJ456789
"""
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
JSONL = """\
{"t":"---","v":{"format":"bbox/1","id":"sess_1","repo_sha":"abc1234"}}
{"t":"u","c":"Hello"}
{"t":"t","n":"read","a":{"_":["a.rs"]},"r":{"lines":3,"text":"\\none"}}
{"t":"a","c":"token ghp_0123456789abcdefghijABCDEFGHIJ456789"}
"""
COMPACT = f"""\
---
format: bbox/1
id: sess_1
repo_sha: abc1234
escape: 1
---
u:Hello
t:read a.rs→[3]
a:token {SECRET}
"""
app = typer.Typer()
app.command()(export.command)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.bbox").write_text(LOG)
    return Path("a.bbox")


def run(*arguments: str | Path, stdin: str = "") -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def refusal(*arguments: str | Path) -> UsageError:
    error = run(*arguments).exception
    assert isinstance(error, UsageError)
    assert error.remedy
    return error


@pytest.mark.requirement("JSONL-05")
def test_json_lines_on_standard_output_and_losses_beside_them(log: Path) -> None:
    done = run(log, "--format", "jsonl", "--no-redact")
    assert (done.exit_code, done.stdout) == (0, JSONL)
    assert done.stderr == "! a.bbox: not carried over: 2 blank lines\n"


@pytest.mark.requirement("JSONL-05", "COMPACT-03")
def test_compact_names_everything_it_could_not_carry(log: Path) -> None:
    done = run(log, "--format", "compact", "--no-redact")
    assert done.stdout == COMPACT
    assert done.stderr == "! a.bbox: not carried over: 2 blank lines; bodies of 1 result; units of 1 count\n"


@pytest.mark.requirement("JSONL-05")
@pytest.mark.parametrize("form", ["jsonl", "compact", "bbox"])
def test_any_form_is_read_from_standard_input(form: str) -> None:
    for given in (LOG, JSONL, COMPACT):
        done = run("-", "--format", form, "--no-redact", stdin=given)
        assert done.exit_code == 0
        assert convert.read(done.stdout.encode(), "out")[0] is Form(form)


def test_secrets_are_hidden_and_counted(log: Path) -> None:
    done = run(log, "--format", "bbox")
    assert SECRET not in done.output
    assert "\na: token [redacted:github_token]\n" in done.stdout
    assert done.stderr.endswith("! a.bbox: secrets hidden: 1 github_token\n")


@pytest.mark.requirement("JSONL-05")
def test_rlog_is_two_files(log: Path) -> None:
    done = run(log, "--format", "rlog", "--output", "out/b", "--no-redact")
    assert done.exit_code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["b.jsonl", "b.rlog"]
    assert done.stderr.endswith("✓ a.bbox → out/b.jsonl\n✓ a.bbox → out/b.rlog\n")
    again = run("out/b.rlog", "--format", "bbox", "--no-redact")
    assert again.stdout == LOG.replace("---\n\nu: Hello\n\n", "escape: 1\n---\n\nu: Hello\n")
    if os.name == "posix":
        assert Path("out/b.rlog").stat().st_mode & 0o777 == 0o600


def test_a_pair_is_read_from_its_companion(tmp_path: Path) -> None:
    with DualRecorder("x", root=tmp_path, repo_sha="abc1234") as recorder:
        recorder.user("u" * 300)
    done = run(recorder.path, "--format", "jsonl", "--json")
    assert "u" * 300 in done.stdout
    report = json.loads(done.stderr)
    assert (report["read_from"], report["read_as"], report["losses"]) == (str(recorder.companion), "companion", [])


def test_the_report_as_json(log: Path) -> None:
    done = run(log, "--format", "compact", "--output", "c.bbox", "--json")
    assert json.loads(done.stdout) == {
        "schema": "blackbox.export/1",
        "file": "a.bbox",
        "read_from": "a.bbox",
        "read_as": "bbox",
        "format": "compact",
        "events": 3,
        "written": ["c.bbox"],
        "losses": [
            {"what": "blank-lines", "count": 2, "lines": [], "told": "2 blank lines"},
            {"what": "bodies", "count": 1, "lines": [], "told": "bodies of 1 result"},
            {"what": "units", "count": 1, "lines": [], "told": "units of 1 count"},
        ],
        "redactions": {"github_token": 1},
    }
    assert done.stderr == ""


def test_several_sessions_go_into_a_folder(log: Path) -> None:
    Path("b.bbox").write_text(LOG)
    done = run("a.bbox", "b.bbox", "--format", "jsonl", "--output", "out")
    assert done.exit_code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.jsonl", "b.jsonl"]
    one = run(log, "--format", "bbox", "--output", "out")
    assert one.exit_code == 0
    assert Path("out/a.bbox").is_file()


def test_nothing_is_replaced_unasked(log: Path) -> None:
    Path("out.jsonl").write_text("mine")
    assert refusal(log, "-f", "jsonl", "-o", "out.jsonl").message == "out.jsonl is there already"
    assert Path("out.jsonl").read_text() == "mine"
    assert run(log, "-f", "jsonl", "-o", "out.jsonl", "--force").exit_code == 0
    assert Path("out.jsonl").read_text().startswith('{"t":"---"')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.bbox", "-f", "pdf"], "there is no form 'pdf'"),
        (["a.bbox", "-f", "rlog"], "rlog is two files, X.rlog and X.jsonl"),
        (["a.bbox", "b.bbox", "-f", "jsonl"], "2 sessions cannot go into one place"),
        (["a.bbox", "sub/a.bbox", "-f", "jsonl", "-o", "out"], "sub/a.bbox and a.bbox would both be written to"),
        (["a.bbox", "-f", "bbox", "-o", "a.bbox", "--force"], "a.bbox is the session that is read"),
    ],
)
def test_what_cannot_be_done_is_refused(log: Path, arguments: list[str], message: str) -> None:
    Path("b.bbox").write_text(LOG)
    Path("sub").mkdir()
    Path("sub/a.bbox").write_text(LOG)
    assert refusal(*arguments).message.startswith(message)
    assert log.read_text() == LOG


def test_a_file_that_is_no_session_fails_and_the_others_go_on(log: Path) -> None:
    Path("odd.bin").write_bytes(b"\x00\xff")
    done = run("odd.bin", log, "-f", "jsonl", "-o", "out")
    assert done.exit_code == 3
    assert "odd.bin: it is neither a log nor JSON lines of a session" in done.stderr
    assert Path("out/a.jsonl").is_file()


def test_a_file_that_is_not_there_fails_and_the_others_go_on(log: Path) -> None:
    done = run("gone.bbox", log, "-f", "jsonl", "-o", "out")
    assert done.exit_code == 3
    assert "gone.bbox: no such file" in done.stderr
    assert Path("out/a.jsonl").is_file()
    assert not isinstance(done.exception, ReadError)


def test_a_log_cannot_steer_the_terminal(log: Path) -> None:
    Path("x\x1b[31m.bbox").write_text(LOG)
    done = run("x\x1b[31m.bbox", "-f", "bbox", "-o", "y.bbox")
    assert "\x1b" not in done.stderr


def test_a_target_that_ends_in_a_slash_is_a_folder(log: Path) -> None:
    done = run(log, "-f", "jsonl", "-o", "new/")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (0, "✓ a.bbox → new/a.jsonl")
    assert Path("new/a.jsonl").is_file()
    run(log, "-f", "rlog", "-o", "pairs/")
    assert sorted(path.name for path in Path("pairs").iterdir()) == ["a.jsonl", "a.rlog"]


def test_a_log_of_another_agent_is_refused_by_name(log: Path) -> None:
    Path("rollout.jsonl").write_text('{"type":"session_meta","payload":{"id":"s"}}\n')
    done = run("rollout.jsonl", log, "-f", "bbox", "-o", "out/")
    assert done.exit_code == 3
    assert "rollout.jsonl: it looks like a Codex rollout, which cannot be read yet" in done.stderr
    assert [path.name for path in Path("out").iterdir()] == ["a.bbox"]


def test_line_numbers_are_those_of_the_file_that_is_named(log: Path) -> None:
    run(log, "-f", "rlog", "-o", "pair", "--no-redact")
    with Path("pair.jsonl").open("a") as companion:
        companion.write("torn\n")
    lines = Path("pair.jsonl").read_text().count("\n")
    done = run("pair.rlog", "-f", "bbox", "--no-redact")
    told = f"1 line that is no JSON object, left out (line {lines})"
    assert done.stderr == f"! pair.rlog, read from pair.jsonl: not carried over: {told}\n"
