"""The names of the package that stay: what a program may rely on."""

import subprocess
import sys
from pathlib import Path

import pytest

import blackbox
from blackbox.write import results

HEADER = "---\nformat: bbox/1\nid: sess_1\nrepo_sha: 4f2a9c1\n---\n"
LOG = HEADER + "t!:test id=c1 → [running]\no: id=c1 → [ok]\n"


def test_every_name_that_is_promised_is_there() -> None:
    assert [name for name in blackbox.__all__ if not hasattr(blackbox, name)] == []


@pytest.mark.requirement("API-05")
def test_session_is_made_from_a_document() -> None:
    (call,) = blackbox.Session(blackbox.parse(LOG)).calls
    assert (call.name, call.id, call.status.value) == ("test", "c1", "ok")


@pytest.mark.requirement("API-06")
def test_writer_writes_a_log_that_parse_reads(tmp_path: Path) -> None:
    path = tmp_path / "session.bbox"
    with blackbox.Writer.create(path, id="sess_1", repo_sha="4f2a9c1") as log:
        log.tool("read", "src/a → b.rs", result=results.lines(3))
    document = blackbox.read_document(path)
    tool = next(line for line in document.lines if line.kind is blackbox.Kind.TOOL)
    assert tool.event.arguments.positional == ("src/a → b.rs",)  # type: ignore[union-attr]  # a tool's event has them
    assert [f for f in blackbox.validate(document) if f.severity is not blackbox.Severity.INFO] == []


@pytest.mark.requirement("API-08")
def test_importing_the_log_format_imports_nothing_of_the_recorder() -> None:
    code = "import sys, blackbox; print([name for name in sys.modules if name.split('.')[0] == 'blackbird'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
