"""`blackbird doctor` as a whole: what it prints, what it exits with, and that it changes nothing."""

import datetime as dt
import json
import re
import sys
from pathlib import Path

import pytest

from blackbird.authority.problems import Level
from tests.blackbird.authority.issued import issue, put
from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import listening, scripted
from tests.blackbird.trace.encoder import Tracer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

_VARIABLES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "user").mkdir()
    for name in (*_VARIABLES, "CLAUDE_CONFIG_DIR", "CODEX_HOME", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BLACKBIRD_PROXY_LISTEN", "127.0.0.1:0")
    here = place(tmp_path, monkeypatch, capsys)
    for folder in (here.home.path, here.home.run):
        folder.chmod(0o700)
    return here


def ids(done_json: dict[str, object]) -> dict[str, str]:
    found = done_json["findings"]
    assert isinstance(found, list)
    return {each["id"]: each["level"] for each in found}


def test_nothing_but_a_recorder_is_missing(here: Place) -> None:
    done = here.run("doctor", "--json")
    assert done.code == 0
    found = ids(done.json)
    assert found["recorder-down"] == "warning"
    assert found["modes"] == "ok"
    assert found["ca-missing"] == "note"
    assert done.json["schema"] == "doctor/1"
    assert done.json["errors"] == 0
    assert done.json["warnings"] == sum(level == "warning" for level in found.values())


def test_calls_that_went_past_are_found_from_log_to_finding(here: Place, tmp_path: Path) -> None:
    tracer = Tracer()
    tracer.rotate(wall=int((dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)).timestamp()) * 10**9)
    tracer.segments = tracer.segments[1:]
    tracer.exchange(1)
    tracer.save(here.home.trace)
    now = dt.datetime.now(dt.UTC).isoformat().replace("+00:00", "Z")
    log = tmp_path / "user" / ".claude" / "projects" / "p" / "s.jsonl"
    log.parent.mkdir(parents=True)
    text = {"type": "assistant", "requestId": "req_9", "timestamp": now, "message": {"content": "not to be seen"}}
    log.write_text(json.dumps(text) + "\n", encoding="utf-8")
    done = here.run("doctor", "--days", "2")
    assert "! 1 of 1 calls of claude in the last 2 days passed the recorder by\n" in done.out
    assert "req_9; compared by request id\n    → start it with: blackbird run -- claude\n" in done.out
    assert "not to be seen" not in done.out


def test_an_error_makes_it_fail_and_quiet_leaves_out_what_is_well(here: Place) -> None:
    put(here.home, issue())
    (here.home.path / "ca" / "ca.key").chmod(0o644)
    with listening(here.home.control_socket, scripted()[0]):
        done = here.run("doctor", "--quiet")
    assert done.code == 1
    assert "✗ Others can read the key of the private CA" in done.out
    assert "✓" not in done.out
    assert done.out.splitlines()[-1].startswith("2 errors")


def test_nothing_is_changed_by_looking(here: Place, tmp_path: Path) -> None:
    put(here.home, issue())

    def state() -> list[tuple[str, int, int]]:
        found = sorted(path for path in tmp_path.rglob("*"))
        return [(str(path), path.lstat().st_mtime_ns, path.lstat().st_mode) for path in found]

    before = state()
    here.run("doctor")
    assert state() == before


def test_a_socket_that_is_no_recorder_is_a_finding(here: Place) -> None:
    with listening(here.home.control_socket, lambda _: b"what?\n"):
        done = here.run("doctor", "--json")
    assert ids(done.json)["recorder-silent"] == "error"
    assert done.code == 1


def test_levels_sum_up_and_every_finding_that_asks_for_something_says_what(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    done = here.run("doctor", "--json")
    found = done.json["findings"]
    assert {"root-certificates"} <= {each["id"] for each in found}
    assert len(found) == sum(done.json[key] for key in ("ok", "notes", "warnings", "errors"))
    serious = [each for each in found if each["level"] in (Level.ERROR.value, Level.WARNING.value)]
    assert [each["id"] for each in serious if not each["remedy"]] == []


def test_every_finding_is_on_its_page() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "cli" / "_parts" / "blackbird" / "doctor.md").read_text("utf-8")
    sources = [*(root / "src/blackbird/doctor").rglob("*.py"), root / "src/blackbird/authority/problems.py"]
    calls = re.compile(r'\b(?:ok|note|warning|error|Problem)\(\s*f?"([^"]+)"')
    found = {name for path in sources for name in calls.findall(path.read_text("utf-8"))}
    spelled = {name.replace("{client}", "claude").replace("{each.client}", "claude") for name in found}
    assert len(spelled) > 40
    assert sorted(name for name in spelled if f"`{name}`" not in page) == []
