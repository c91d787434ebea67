"""`blackbird ca`: shown, exported, renewed, removed."""

import datetime as dt
import stat
import sys
from pathlib import Path

import pytest

from blackbird.authority import ca
from tests.blackbird.authority.issued import HOSTS, install, issue, put
from tests.blackbird.cli.command import Place, place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
DAY = dt.timedelta(days=1)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def test_without_one_it_says_when_it_is_made_and_that_nothing_is_installed(here: Place) -> None:
    for words in (["ca"], ["ca", "show"]):
        done = here.run(*words)
        assert (done.code, done.out) == (
            0,
            (
                "· There is no private CA yet; it is made when an agent first runs in forward mode\n"
                "  It is in no store of the system or of a browser; only agents that blackbird run starts trust it.\n"
            ),
        )
    assert here.run("ca", "--json").json == {
        "schema": "ca/1",
        "folder": str(ca.folder(here.home)),
        "authority": None,
        "problems": [
            {
                "id": "ca-missing",
                "level": "note",
                "what": "there is no private CA yet; it is made when an agent first runs in forward mode",
                "remedy": None,
            }
        ],
    }


def test_show_tells_hosts_validity_fingerprint_and_place(here: Place) -> None:
    begin, end = NOW - DAY, NOW + 729 * DAY
    issued = put(here.home, issue(begin=begin, end=end))
    done = here.run("ca")
    assert done.code == 0
    assert done.out == (
        f"✓ The private CA is valid until {end:%Y-%m-%d} and speaks for 2 hosts alone\n"
        "  hosts        api.anthropic.com\n"
        "               api.openai.com\n"
        f"  valid        {begin:%Y-%m-%d} to {end:%Y-%m-%d}\n"
        f"  fingerprint  {issued.fingerprint}\n"
        f"  certificate  {ca.certificate_path(here.home)}\n"
        "  It is in no store of the system or of a browser; only agents that blackbird run starts trust it.\n"
    )
    assert here.run("ca", "show", "--json").json["authority"] == {
        "certificate": str(ca.certificate_path(here.home)),
        "hosts": list(HOSTS),
        "not_before": begin.isoformat().replace("+00:00", "Z"),
        "not_after": end.isoformat().replace("+00:00", "Z"),
        "fingerprint": issued.fingerprint,
        "state": "kept",
    }


def test_what_is_wrong_comes_first_and_is_a_failure(here: Place) -> None:
    put(here.home, issue(begin=NOW - DAY, end=NOW + 100 * DAY))
    ca.key_path(here.home).write_bytes(issue().key)
    done = here.run("ca")
    assert done.code == 1
    assert done.out.splitlines()[:2] == [
        "✗ The certificate of the private CA does not fit its key: somebody has put one in the other's place",
        "  blackbird ca renew makes a new one",
    ]
    assert [each["id"] for each in here.run("ca", "--json").json["problems"]] == ["ca-foreign"]


def test_export_gives_the_certificate_and_never_the_key(here: Place, tmp_path: Path) -> None:
    none = here.run("ca", "export", "--json")
    assert (none.code, none.error["code"]) == (1, "not_found")
    issued = put(here.home, issue())
    pem = issued.certificate.decode()
    assert here.run("ca", "export").out == pem
    assert here.run("ca", "export", "-", "--json").json == {
        "schema": "ca-export/1",
        "file": None,
        "certificate": pem,
    }
    done = here.run("ca", "export", "out.pem")
    assert (done.code, done.out) == (0, "✓ The certificate is in out.pem\n")
    target = tmp_path / "out.pem"
    assert target.read_text("ascii") == pem
    assert "PRIVATE" not in pem


def test_export_replaces_a_file_only_by_force(here: Place, tmp_path: Path) -> None:
    issued = put(here.home, issue())
    target = tmp_path / "mine.pem"
    target.write_text("mine", encoding="ascii")
    target.chmod(0o640)
    refused = here.run("ca", "export", "mine.pem")
    assert (refused.code, target.read_text("ascii")) == (2, "mine")
    assert refused.err == "✗ mine.pem is there already\n  name a new file, or add --force\n"
    assert here.run("ca", "export", "mine.pem", "--force", "--json").json["file"] == str(target)
    assert target.read_bytes() == issued.certificate
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_renew_tells_that_agents_must_be_started_again(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "ok": True,
        "certificate": "/h/ca/ca.pem",
        "hosts": ["api.anthropic.com"],
        "not_before": "2026-11-15T12:00:00Z",
        "not_after": "2028-11-14T12:00:00Z",
        "fingerprint": "ab" * 32,
        "state": "renewed",
    }
    noted = install(monkeypatch, tmp_path, told)
    done = here.run("ca", "renew")
    assert (done.code, done.out) == (
        0,
        (
            "✓ A new private CA, valid until 2028-11-14\n"
            "  hosts        api.anthropic.com\n"
            "  valid        2026-11-15 to 2028-11-14\n"
            f"  fingerprint  {'ab' * 32}\n"
            "  certificate  /h/ca/ca.pem\n"
            "  Agents that run in forward mode trust the old one: start them again.\n"
        ),
    )
    assert noted.read_text("utf-8") == f"ca --config {here.home.recorder_json} --renew\n"
    del told["ok"]
    assert here.run("ca", "renew", "--json").json == {"schema": "ca-renew/1", **told}


def test_remove_takes_all_of_it_away(here: Place) -> None:
    assert here.run("ca", "remove").out == "There is no private CA\n"
    put(here.home, issue())
    done = here.run("ca", "remove")
    assert (done.code, done.out) == (
        0,
        (
            "✓ The private CA and its key are removed\n"
            "  Agents that run in forward mode trust the old one: start them again.\n"
        ),
    )
    assert not ca.folder(here.home).exists()
    put(here.home, issue())
    assert here.run("ca", "remove", "--json").json == {
        "schema": "ca-remove/1",
        "removed": [str(ca.key_path(here.home)), str(ca.certificate_path(here.home))],
    }
