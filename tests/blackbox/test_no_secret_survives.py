"""Every secret of the corpus, sent through everything that writes: it is found nowhere, and nothing else is lost."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from blackbox import DualRecorder, Redactor, Writer, read_document
from blackbox.write import results
from tests.blackbox.cli.command import run
from tests.blackbox.redaction.corpus import Case, read_corpus

CASES = read_corpus()
#: What only recorded traffic is searched for: in a log, an account's id is no secret.
WIRE_ALONE = {"account_id", "device_id"}
SECRETS = [case for case in CASES if case.kinds and not WIRE_ALONE & set(case.kinds)]
LOOK_ALIKES = [case for case in CASES if not case.kinds]
#: Shorter pieces of a secret occur by chance.
LEAST = 12


def pieces(case: Case) -> set[bytes]:
    """The lines of what a case hides: a log indents the lines of a text, so a whole key is nowhere anyway."""
    hidden = re.split(r"\[redacted:[a-z0-9_]+\]", case.clean)
    text = case.text
    found = []
    for before, after in pairwise(hidden):
        start = text.index(before) + len(before)
        end = text.index(after, start) if after else len(text)
        found.append(text[start:end])
        text = text[end:] if after else ""
    lines = (line.strip() for secret in found for line in secret.splitlines())
    return {line.encode() for line in lines if len(line) >= LEAST}


def bytes_below(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def write_log(path: Path, cases: list[Case], redactor: Redactor | None = None) -> None:
    """Each case as a message, as an argument, as a short and as a long result."""
    with Writer.create(path, id="s", repo_sha="abc1234", redactor=redactor) as log:
        for case in cases:
            log.user(case.text)
            log.tool("shell", case.text, result=results.ok(case.text))
            log.tool("cat", result=case.text + "\nplain words\n" * 100)


def record_twice(root: Path, cases: list[Case]) -> None:
    with DualRecorder("plant", root=root, repo_sha="abc1234") as log:
        for case in cases:
            log.agent(case.text)
        with log.subagent("explore", "look") as inner:
            for case in cases:
                inner.tool("cat", case.text, result=case.text)
            inner.close(summary="done")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log in which every secret stands in the clear, as another program might have written it."""
    path = tmp_path_factory.mktemp("planted") / "s.bbox"
    write_log(path, SECRETS, Redactor.nothing())
    return path


def survivors(folder: Path) -> list[str]:
    data = bytes_below(folder)
    return [f"line {case.line} ({case.kinds})" for case in SECRETS if any(piece in data for piece in pieces(case))]


@pytest.mark.requirement("REDACT-07")
def test_no_secret_survives_in_what_is_recorded(tmp_path: Path) -> None:
    write_log(tmp_path / "s.bbox", SECRETS)
    record_twice(tmp_path / "logs", SECRETS)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 2
    assert survivors(tmp_path) == []


def test_the_search_finds_them_where_they_are(planted: Path) -> None:
    """The tests here could not fail otherwise. Short secrets are not looked for, and escapes take some apart."""
    assert len(survivors(planted.parent)) > len(SECRETS) * 0.85


@pytest.mark.requirement("REDACT-07", "REDACT-10")
@pytest.mark.parametrize("form", ["bbox", "jsonl", "compact", "rlog"])
def test_no_secret_survives_an_export(planted: Path, tmp_path: Path, form: str) -> None:
    done = run("export", str(planted), "--format", form, "--output", str(tmp_path / f"out.{form}"))
    assert done.code == 0
    assert survivors(tmp_path) == []


@pytest.mark.requirement("REDACT-10")
def test_no_secret_survives_redact(planted: Path, tmp_path: Path) -> None:
    done = run("redact", str(planted), "--output", str(tmp_path / "clean.bbox"))
    assert done.code == 0
    assert survivors(tmp_path) == []
    assert run("validate", str(tmp_path / "clean.bbox")).code == 0


@pytest.mark.requirement("REDACT-06")
def test_look_alikes_come_through_to_the_byte(tmp_path: Path) -> None:
    write_log(tmp_path / "s.bbox", LOOK_ALIKES)
    log = read_document(tmp_path / "s.bbox")
    said = [line.event.text for line in log.lines if line.kind == "user" and hasattr(line.event, "text")]
    assert said == [case.text for case in LOOK_ALIKES]


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_only_the_owner_can_read_any_of_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_log(tmp_path / "s.bbox", SECRETS[:3])
        record_twice(tmp_path / "logs", SECRETS[:3])
    finally:
        os.umask(before)
    made = list(tmp_path.rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
