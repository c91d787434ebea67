"""`blackbird trace clean`, `pin`, `unpin` and `seal`, asked of a recorder that runs."""

import io
from pathlib import Path
from typing import Any

import pytest

from blackbird.cli.trace import keeping
from tests.blackbird.cli.command import Place, place
from tests.blackbird.recorder.twin import listening, scripted

GOING = [{"segment": 1, "bytes": 2048, "requests": 7, "reason": "older than 30 days"}]
KEPT = [{"segment": 2, "bytes": 1024, "pins": ["session harbour"]}]
PLAN: dict[str, Any] = {"ok": True, "removed": GOING, "kept_by_pin": KEPT, "dry_run": True}
ACTED = {**PLAN, "dry_run": False}
SHOWN = """\
  segment 1  2.0 KiB  7 requests  older than 30 days
  segment 2  1.0 KiB  stays: session harbour
! 1 segment, 2.0 KiB, would go for good
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def op(*, dry_run: bool, days: int | None = None, max_bytes: int | None = None) -> dict[str, Any]:
    return {"op": "clean", "days": days, "max_bytes": max_bytes, "dry_run": dry_run}


def test_clean_shows_and_does_nothing_where_nobody_can_agree(here: Place) -> None:
    answer, asked = scripted(PLAN)
    with listening(here.home.control_socket, answer):
        done = here.run("trace", "clean", "--days", "30")
    assert (done.code, done.out) == (0, SHOWN + "  Dry run - add --yes to remove them\n")
    assert asked == [op(dry_run=True, days=30)]


def test_clean_removes_with_yes(here: Place) -> None:
    answer, asked = scripted(PLAN, ACTED)
    with listening(here.home.control_socket, answer):
        done = here.run("trace", "clean", "--max-size", "2 GiB", "--yes")
    assert (done.code, done.out) == (0, SHOWN + "✓ Removed 1 segment, 2.0 KiB\n")
    assert asked == [op(dry_run=True, max_bytes=2 << 30), op(dry_run=False, max_bytes=2 << 30)]


@pytest.mark.parametrize(("word", "acts"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_clean_asks_on_a_terminal(here: Place, monkeypatch: pytest.MonkeyPatch, word: str, acts: bool) -> None:
    answer, asked = scripted(PLAN, ACTED)
    monkeypatch.setattr(keeping, "_is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(word))
    with listening(here.home.control_socket, answer):
        done = here.run("trace", "clean")
    assert done.code == 0
    assert ("✓ Removed" in done.out) is acts
    assert [each["dry_run"] for each in asked] == ([True, False] if acts else [True])


def test_clean_with_nothing_to_remove_says_so(here: Place) -> None:
    answer, asked = scripted({"ok": True, "removed": [], "kept_by_pin": [], "dry_run": True})
    with listening(here.home.control_socket, answer):
        assert here.run("trace", "clean", "--yes") == (0, "Nothing is to be removed\n", "")
    assert len(asked) == 1


def test_clean_as_json_is_a_dry_run_without_yes(here: Place) -> None:
    answer, asked = scripted(PLAN, PLAN, ACTED)
    with listening(here.home.control_socket, answer):
        body = {"schema": "trace-clean/1", "removed": GOING, "kept_by_pin": KEPT}
        assert here.run("trace", "clean", "--json").json == {**body, "dry_run": True}
        assert here.run("trace", "clean", "--json", "--yes").json == {**body, "dry_run": False}
    assert [each["dry_run"] for each in asked] == [True, True, False]


@pytest.mark.parametrize("size", ["2", "2 GIB", "much"])
def test_clean_refuses_what_is_no_size(here: Place, size: str) -> None:
    done = here.run("trace", "clean", "--max-size", size)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"✗ --max-size: `{size}` is not a size such as")


@pytest.mark.parametrize(
    ("command", "told"),
    [("pin", "✓ The session harbour is kept\n"), ("unpin", "✓ The session harbour is no longer kept\n")],
)
def test_pins(here: Place, command: str, told: str) -> None:
    answer, asked = scripted({"ok": True}, {"ok": True})
    with listening(here.home.control_socket, answer):
        assert here.run("trace", command, "--session", "harbour") == (0, told, "")
        done = here.run("trace", command, "--run", "run_1", "--json")
    assert done.json == {"schema": f"trace-{command}/1", "run": "run_1"}
    assert asked == [{"op": command, "session": "harbour"}, {"op": command, "run": "run_1"}]


@pytest.mark.parametrize("options", [[], ["--session", "a", "--run", "b"]], ids=["none", "both"])
def test_a_pin_is_of_one_thing(here: Place, options: list[str]) -> None:
    done = here.run("trace", "pin", *options)
    assert done == (2, "", "✗ name a session or a run\n  add --session ID or --run ID, and not both\n")


def test_a_pin_of_no_id_is_refused(here: Place) -> None:
    assert here.run("trace", "pin", "--session", "a b").code == 2


def test_seal(here: Place) -> None:
    sealed = [{"segment": 3, "raw": 4096, "sealed": 1024}]
    answer, asked = scripted(
        {"ok": True, "sealed": sealed}, {"ok": True, "sealed": []}, {"ok": True, "sealed": sealed}
    )
    with listening(here.home.control_socket, answer):
        assert here.run("trace", "seal").out == "✓ Segment 3: 4.0 KiB became 1.0 KiB\n"
        assert here.run("trace", "seal").out == "No segment is left to seal\n"
        assert here.run("trace", "seal", "--json").json == {"schema": "trace-seal/1", "sealed": sealed}
    assert asked == [{"op": "seal"}] * 3


def test_a_refusal_is_told_in_the_recorders_words(here: Place) -> None:
    said = {"ok": False, "code": "disk_full", "message": "no space left", "remedy": "free some"}
    with listening(here.home.control_socket, scripted(said)[0]):
        done = here.run("trace", "seal", "--json")
    assert (done.code, done.out) == (3, "")
    assert done.error == {"code": "disk_full", "message": "no space left", "remedy": "free some"}
