"""The CA of a home: made by the program, read, inspected, removed."""

import datetime as dt
import json
import sys
from pathlib import Path

import pytest

from blackbird.authority import ca
from blackbird.authority.ca import Authority, Condition
from blackbird.errors import RecorderFailed, RecorderRefused
from blackbird.home import Home
from blackbox.errors import ReadError
from tests.blackbird.authority.issued import BEGIN, END, HOSTS, install, issue, put
from tests.blackbird.recorder.twin import home_in, listening, scripted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

TOLD = {
    "ok": True,
    "certificate": "/somewhere/ca/ca.pem",
    "hosts": ["api.anthropic.com"],
    "not_before": "2026-11-15T12:00:00Z",
    "not_after": "2028-11-14T12:00:00Z",
    "fingerprint": "ab" * 32,
    "state": "made",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_in(tmp_path / "home")


def test_ensure_writes_the_configuration_and_has_the_program_make_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = install(monkeypatch, tmp_path, TOLD)
    made = ca.ensure(home)
    assert made == Authority(Path("/somewhere/ca/ca.pem"), ["api.anthropic.com"], BEGIN, END, "ab" * 32, state="made")
    assert noted.read_text("utf-8") == f"ca --config {home.recorder_json}\n"
    assert json.loads(home.recorder_json.read_bytes())["home"] == str(home.path)


def test_ensure_leaves_the_configuration_of_a_running_recorder(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = install(monkeypatch, tmp_path, {**TOLD, "state": "renewed"})
    with listening(home.control_socket, scripted()[0]):
        assert ca.ensure(home, renew=True).state == "renewed"
    assert noted.read_text("utf-8") == f"ca --config {home.recorder_json} --renew\n"
    assert not home.recorder_json.exists()


def test_renewing_takes_the_bundles_of_the_old_one_away(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path, TOLD)
    put(home, issue())
    old = ca.folder(home) / "bundle-0123.pem"
    old.write_bytes(b"")
    ca.ensure(home)
    assert old.exists()
    ca.ensure(home, renew=True)
    assert not old.exists()
    assert ca.certificate_path(home).exists()


def test_what_the_program_refuses_is_told_in_its_words(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no = {"ok": False, "code": "foreign", "message": "the key is another's", "remedy": "blackbird ca renew"}
    install(monkeypatch, tmp_path, no, code=1)
    with pytest.raises(RecorderRefused, match="the key is another's") as refused:
        ca.ensure(home)
    assert (refused.value.code, refused.value.remedy) == ("foreign", "blackbird ca renew")


@pytest.mark.parametrize("answer", [{"ok": True}, {**TOLD, "not_after": "tomorrow"}, {"ok": 1}])
def test_an_answer_that_is_none_is_a_failure(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    install(monkeypatch, tmp_path, answer)
    with pytest.raises(RecorderFailed, match=r"^ca: "):
        ca.ensure(home)


def test_read_says_what_the_certificate_says(home: Home) -> None:
    assert ca.read(home) is None
    issued = put(home, issue())
    found = ca.read(home)
    assert found == Authority(ca.certificate_path(home), list(HOSTS), BEGIN, END, issued.fingerprint, "kept")


@pytest.mark.parametrize(
    ("pem", "why"),
    [
        (b"", "Unable to load PEM file"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is no certificate of a CA of ours"),
        (b"x" * 70_000, "far too long"),
        (issue(None).certificate, "it is not limited to any hosts"),
    ],
)
def test_a_certificate_that_is_none_of_ours_is_never_used(home: Home, pem: bytes, why: str) -> None:
    put(home, issue())
    ca.certificate_path(home).write_bytes(pem)
    with pytest.raises(ReadError, match=why) as failed:
        ca.read(home)
    assert failed.value.remedy == "blackbird ca renew makes a new one"
    assert ca.inspect(home) == Condition(damage=failed.value.message, key_mode=0o600)


def test_inspect_sees_the_key_and_whether_it_fits(home: Home) -> None:
    assert ca.inspect(home) == Condition()
    put(home, issue())
    found = ca.read(home)
    assert ca.inspect(home) == Condition(found, None, 0o600, key_fits=True)
    ca.key_path(home).write_bytes(issue().key)
    ca.key_path(home).chmod(0o644)
    assert ca.inspect(home) == Condition(found, None, 0o644, key_fits=False)
    ca.key_path(home).write_bytes(b"no key")
    assert str(ca.inspect(home).damage).startswith(f"{ca.key_path(home)} is no private key: ")
    ca.key_path(home).unlink()
    assert ca.inspect(home) == Condition(found)


def test_remove_takes_away_what_is_ours_and_nothing_else(home: Home) -> None:
    put(home, issue())
    theirs = ca.folder(home) / "notes.txt"
    theirs.write_text("mine", encoding="utf-8")
    (ca.folder(home) / "lock").touch()
    assert [path.name for path in ca.remove(home)] == ["ca.key", "ca.pem", "lock"]
    assert list(ca.folder(home).iterdir()) == [theirs]
    theirs.unlink()
    assert ca.remove(home) == []
    assert not ca.folder(home).exists()


def test_times_keep_their_zone(home: Home) -> None:
    put(home, issue(begin=BEGIN, end=BEGIN + dt.timedelta(days=1)))
    found = ca.read(home)
    assert found is not None
    assert found.not_after - found.not_before == dt.timedelta(days=1)
    assert found.not_after.utcoffset() == dt.timedelta(0)
