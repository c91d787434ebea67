"""Sensitive paths, redactions, and secrets in the clear."""

import pytest

from blackbox.document.document import parse
from blackbox.redaction.redactor import Found, Redactor
from blackbox.report.sensitive import exposed_in, markers_in, reaches_of, why_sensitive
from tests.blackbox.session.logs import session_of


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".env", "environment file"),
        ("deploy/.env.production", "environment file"),
        ("~/.ssh/config", "ssh folder"),
        ("/home/kim/.ssh/id_ed25519", "private key"),
        ("certs/server.PEM", "private key"),
        ("~/.aws/credentials", "cloud credentials"),
        ("/etc/shadow", "password file"),
        ("C:\\Users\\kim\\.kube\\config", "cluster access"),
        ("terraform.tfstate", "secrets"),
        (".env.example", None),
        ("id_rsa.pub", None),
        ("src/credentials.py", None),
        ("src/environment.rs", None),
        ("", None),
    ],
)
def test_why_a_path_is_sensitive(path: str, why: str | None) -> None:
    assert why_sensitive(path) == why


@pytest.mark.requirement("AUDIT-04")
def test_sensitive_paths_with_how_they_were_touched() -> None:
    session = session_of(
        't:read .env → [3 lines]\nt:shell "cat ~/.ssh/id_rsa | head" → [ok]\nt:shell "run --env-file=.env" → [ok]\n'
    )
    found = [
        (reach.path, reach.access, reach.call.line.number)
        for reach in reaches_of(session.files.values(), session.calls)
    ]
    assert found == [
        (".env", "read", 1),
        ("~/.ssh/id_rsa", "named in a command", 2),
        (".env", "named in a command", 3),
    ]


def test_redactions_with_kind_and_line() -> None:
    lines = parse("t:read .env → A=[redacted:env_var] B=[redacted]\n  C=[redacted:env_var]\nu: none\n").lines
    found = [(marker.kind, marker.line.number) for marker in markers_in(lines)]
    assert found == [("env_var", 1), ("unnamed", 1), ("env_var", 1)]


class Words(Redactor):
    """Takes one word for a secret."""

    def find(self, data: bytes) -> list[Found]:
        at = data.find(b"hunter2")
        return [Found(at, at + 7, "password")] if at >= 0 else []


def test_secrets_in_the_clear_are_told_by_kind_and_line() -> None:
    lines = parse("u: hello\na: my password\n  is hunter2\n").lines
    assert [(one.kind, one.line.number) for one in exposed_in(lines, Words())] == [("password", 2)]
