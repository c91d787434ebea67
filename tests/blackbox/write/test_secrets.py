"""Nothing that a harness hands over in the clear reaches the disk as it was."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbox import parse, read_document
from blackbox.events import Event
from blackbox.events.rewrite import map_texts
from blackbox.redaction.redactor import Redactor
from blackbox.vault.guard import Guard
from blackbox.write import Writer, metrics_of, render_event
from tests.blackbox.vault.secrets import Words
from tests.blackbox.write import strategies
from tests.blackbox.write.clocks import REDACTOR
from tests.blackbox.write.everything import say_everywhere

HEADER = "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nescape: 1\n---\n\n"


def all_bytes(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.requirement("REDACT-07")
@pytest.mark.parametrize("rotate_bytes", [None, 2000])
def test_a_secret_in_every_place_reaches_no_file(tmp_path: Path, rotate_bytes: int | None) -> None:
    path = tmp_path / "s.bbox"
    with Writer.create(
        path,
        redactor=Words(),
        rotate_bytes=rotate_bytes,
        id="s",
        repo_sha="abc1234",
        notes="it is hunter2",
        toolset={"a": "hunter2"},
        skills=["hunter2"],
        extra={"k": "hunter2"},
    ) as log:
        say_everywhere(log, "it is hunter2 today")
        hidden = sum(log.redactions.values())
    assert b"hunter2" not in all_bytes(tmp_path)
    assert len(list((tmp_path / ".bbox-blobs").iterdir())) == 5
    last = sorted(tmp_path.glob("*.bbox"), key=lambda part: part.stat().st_mtime_ns)[-1]
    assert last.read_text().endswith(f" redactions={hidden}\n")
    assert hidden > 100
    for part in tmp_path.glob("*.bbox"):
        assert [line.source for line in read_document(part).lines if line.kind.value in ("unknown", "stray")] == []


BODY = "MIIEpAIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0t"
#: One of each class: the text it stands in, and what must be nowhere. Each is made up.
PLANTED = {
    "pem": (f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----", BODY),
    "keys": ("key ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m .", "ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m"),
    "jwt": (
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U .",
        "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    ),
    "url": ("postgres://admin:s3cr3tPw0rd@db.internal/app", "s3cr3tPw0rd"),
    "headers": ("Authorization: Bearer 7f9Kq2LmZx81VbTn0aPw", "7f9Kq2LmZx81VbTn0aPw"),
    "assignments": ("DB_PASSWORD=tr0ub4dor&3", "tr0ub4dor"),
    "entropy": ("blob q7Zt9LmK2xVb8NpR4sWd6YhJ1cFg3TeA5uQo .", "q7Zt9LmK2xVb8NpR4sWd6YhJ1cFg3TeA5uQo"),
}


@pytest.mark.requirement("REDACT-07")
@pytest.mark.parametrize("name", PLANTED)
def test_a_secret_of_each_class_in_every_place_reaches_no_file(tmp_path: Path, name: str) -> None:
    text, secret = PLANTED[name]
    with Writer.create(
        tmp_path / "s.bbox",
        redactor=Redactor(),
        rotate_bytes=20_000,
        id="s",
        repo_sha="abc1234",
        notes=text,
        toolset={"a": text},
        skills=[text],
        extra={"k": text},
    ) as log:
        say_everywhere(log, text)
    assert secret.encode() not in all_bytes(tmp_path)
    assert len(list((tmp_path / ".bbox-blobs").iterdir())) == 5


@pytest.mark.requirement("REDACT-07")
def test_secrets_told_by_the_name_of_their_place(tmp_path: Path) -> None:
    secret = "tr0ub4dor-and-3"
    with Writer.create(tmp_path / "s.bbox", redactor=Redactor(), id="s", repo_sha="abc1234") as log:
        log.tool("mysql", "--password", secret, "-h", "db")
        log.tool("connect", password=secret, nested={"password": secret}, hosts=[{"password": secret}])
        log.user("hi", extra={"password": secret})
        log.raw_event({"password": secret})
        log.tool("sh", result=f'{{"user": "me", "password": "{secret}"}}')
        log.agent("hi", metrics=metrics_of(extra={"password": secret}))
        hidden = log.redactions
    assert secret.encode() not in all_bytes(tmp_path)
    assert hidden == {"password": 8}


def test_what_only_looks_like_a_secret_stays(tmp_path: Path) -> None:
    commit, run = "4f2a9c1d8e7b6a5f4f2a9c1d8e7b6a5f4f2a9c1d", "0f8fad5b-d9cb-469f-a165-70867728950e"
    with Writer.create(tmp_path / "s.bbox", redactor=Redactor(), id=run, repo_sha=commit) as log:
        log.thinking("hm", sig="EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds0Qq7Zt9LmK2xVb8NpR4sWd6YhJ==")
        log.tool("git", "show", commit, result="x" * 2000)
        log.tool("read", meta={"id": "toolu_01A09q90qw90lq917835lq9"})
        assert log.redactions == {}


def test_redaction_can_be_switched_off(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "s.bbox", redactor=Redactor.nothing(), id="s", repo_sha="abc1234") as log:
        log.user(PLANTED["keys"][0])
    assert PLANTED["keys"][1].encode() in all_bytes(tmp_path)


@pytest.mark.requirement("REDACT-07")
@settings(max_examples=300, deadline=None)
@given(strategies.lines, st.sampled_from(sorted(PLANTED)))
def test_a_secret_in_any_event_is_hidden_and_the_entry_still_says_the_same(
    line: tuple[Event, dict[str, str]], name: str
) -> None:
    text, secret = PLANTED[name]

    def plant(said: str) -> str:
        return said.replace("word", f" {text} ")

    event, meta = line
    planted = map_texts(event, plant, lambda _key, value: plant(value))
    guard = Guard(REDACTOR)
    admitted, kept = guard.admit(planted, {key: plant(value) for key, value in meta.items()})
    entry = guard.look_again(render_event(admitted, kept))
    assert secret not in entry
    found = parse(HEADER + entry + "\n").lines
    assert [type(line.event) for line in found[1:]] == [type(event)]
