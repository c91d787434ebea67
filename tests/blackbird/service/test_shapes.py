"""What the commands about this machine print as JSON is what their pages say."""

import json
import sys
from pathlib import Path

import pytest

from blackbird.service import systemd
from tests.blackbird.authority.issued import install, issue, put
from tests.blackbird.cli.command import Place, place
from tests.blackbird.service.test_systemd import systemctl
from tests.docs.test_generated import Documented

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

TOLD = {
    "ok": True,
    "certificate": "/h/ca/ca.pem",
    "hosts": ["api.anthropic.com"],
    "not_before": "2026-11-15T12:00:00Z",
    "not_after": "2028-11-14T12:00:00Z",
    "fingerprint": "ab" * 32,
    "state": "renewed",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(systemd, "find_command", lambda: Path("/opt/bin/blackbird"))
    systemctl(monkeypatch, tmp_path, "exit 3")
    here = place(tmp_path, monkeypatch, capsys)
    put(here.home, issue())
    (here.home.path / "ca" / "ca.key").chmod(0o644)
    (here.home.path / "hmac.key").write_bytes(b"")
    return here


@pytest.mark.parametrize(
    ("words", "code", "filled"),
    [
        (["ca"], 1, ["authority", "problems"]),
        (["ca", "export"], 0, ["certificate"]),
        (["ca", "renew"], 0, ["hosts"]),
        (["ca", "remove"], 0, ["removed"]),
        (["doctor"], 1, ["findings", "errors"]),
        (["uninstall", "--dry-run"], 0, ["removed", "kept"]),
        (["up", "--systemd"], 0, ["unit", "command"]),
    ],
)
def test_the_object_is_as_its_page_says(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, filled: list[str]
) -> None:
    install(monkeypatch, tmp_path, TOLD)
    done = here.run(*words, "--json")
    assert done.code == code
    told = json.loads(done.out)
    assert Documented().faults(told, told["schema"], told["schema"]) == []
    assert [key for key in filled if not told[key]] == []
