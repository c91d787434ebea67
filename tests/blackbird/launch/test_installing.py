"""`blackbird install` and `uninstall CLIENT`: files of the user's changed when asked, and exactly as before after."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from blackbird.launch import installing
from blackbox import disk
from blackbox.errors import WriteError
from tests.blackbird.cli.command import Place, place

#: What users keep, and no program may forget.
FILES = {
    "claude": {".claude.json": '{\n  "numStartups": 3\n}', ".claude/settings.json": '{"model": "m"}\n'},
    "codex": {".codex/config.toml": '# mine\nmodel = "x"\n'},
    "gemini": {".gemini/settings.json": '{\n  // mine\n  "theme": "x",\n}\n'},
    "opencode": {".config/opencode/opencode.json": '{"model": "m", "mcp": {"mine": {"type": "local"}}}'},
}
each_client = pytest.mark.parametrize("client", FILES)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return place(tmp_path, monkeypatch, capsys)


def user() -> Path:
    return Path.home()


def furnish(client: str) -> dict[Path, bytes]:
    """The user's files for a client, with what is in each."""
    for name, text in FILES[client].items():
        path = user() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o640)
    return contents()


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in user().rglob("*") if path.is_file()}


@each_client
def test_installed_and_uninstalled_is_as_before(here: Place, client: str) -> None:
    before = furnish(client)
    assert here.run("install", client, "--yes").code == 0
    after = contents()
    assert after.keys() == before.keys()
    for path, data in after.items():
        assert data != before[path]
        assert b"blackbird" in data
        assert path.stat().st_mode & 0o777 == 0o640
    assert here.run("uninstall", client, "--yes").code == 0
    assert contents() == before
    assert not (here.home.path / installing.FOLDER).exists()


@each_client
def test_files_that_were_not_there_go_again(here: Place, client: str) -> None:
    assert here.run("install", client, "--yes").code == 0
    assert {str(path.relative_to(user())) for path in contents()} == set(FILES[client])
    assert here.run("uninstall", client, "--yes").code == 0
    assert contents() == {}


def test_what_the_user_added_since_stays_and_that_is_said(here: Place) -> None:
    furnish("codex")
    here.run("install", "codex", "--yes")
    path = user() / ".codex/config.toml"
    path.write_text("# new\n" + path.read_text(encoding="utf-8") + "\n[mine]\na = 1\n", encoding="utf-8")
    done = here.run("uninstall", "codex", "--yes")
    assert f"! {path} was changed since: only the entries are taken out, all else stays\n" in done.out
    assert path.read_text(encoding="utf-8") == '# new\n# mine\nmodel = "x"\n\n[mine]\na = 1\n'


def test_installed_again_it_is_brought_up_to_date(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = furnish("gemini")
    here.run("install", "gemini", "--yes")
    first = contents()
    assert here.run("install", "gemini", "--yes").out == (
        "✓ It has the entries already; blackbird uninstall gemini takes them out again\n"
    )
    assert contents() == first
    monkeypatch.setattr(sys, "executable", "/opt/new/python")
    assert here.run("install", "gemini", "--yes").code == 0
    assert b"/opt/new/python" in contents()[user() / ".gemini/settings.json"]
    assert here.run("uninstall", "gemini", "--yes").code == 0
    assert contents() == before


def test_the_difference_is_shown_and_nothing_done_unasked(here: Place) -> None:
    before = furnish("codex")
    shown = here.run("install", "codex", "--dry-run")
    assert "+[mcp_servers.blackbird]\n" in shown.out
    assert shown.out.endswith("  Dry run - nothing was changed\n")
    asked = here.run("install", "codex")
    assert (asked.code, asked.err.splitlines()[0]) == (2, "✗ nobody can be asked here")
    told = json.loads(here.run("install", "codex", "--dry-run", "--json").out)
    assert (told["schema"], told["client"], told["dry_run"]) == ("install/1", "codex", True)
    assert told["files"][0]["existed"] is True
    assert contents() == before
    assert not (here.home.path / installing.FOLDER).exists()


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("gemini", ".gemini/settings.json", '{"a": '),
        ("gemini", ".gemini/settings.json", '{"mcpServers": {"blackbird": {"command": "mine"}}}'),
        ("codex", ".codex/config.toml", "a = "),
        ("claude", ".claude/settings.json", "[]"),
    ],
)
def test_a_file_that_cannot_be_added_to_is_left_alone(here: Place, client: str, name: str, text: str) -> None:
    (user() / name).parent.mkdir(parents=True)
    (user() / name).write_text(text, encoding="utf-8")
    before = contents()
    done = here.run("install", client, "--yes")
    assert (done.code, contents()) == (2, before)
    assert done.err.startswith(f"✗ {user() / name}: ")
    assert "nothing was changed" in done.err


def test_a_file_that_is_read_only_is_left_alone_and_so_are_the_others(here: Place) -> None:
    before = furnish("claude")
    (user() / ".claude/settings.json").chmod(0o440)
    done = here.run("install", "claude", "--yes")
    assert (done.code, contents()) == (3, before)
    assert done.err.startswith(f"✗ {user() / '.claude/settings.json'} is read-only\n")
    assert here.run("uninstall", "claude", "--yes").code == 1


def test_a_link_stays_a_link(here: Place, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("a = 1\n", encoding="utf-8")
    path = user() / ".codex/config.toml"
    path.parent.mkdir(parents=True)
    path.symlink_to(kept)
    here.run("install", "codex", "--yes")
    assert path.is_symlink()
    assert "mcp_servers" in tomllib.loads(kept.read_text(encoding="utf-8"))
    here.run("uninstall", "codex", "--yes")
    assert (path.is_symlink(), kept.read_text(encoding="utf-8")) == (True, "a = 1\n")


def test_a_folder_that_the_user_chose_is_heeded(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    here.run("install", "codex", "--yes")
    assert (tmp_path / "codex" / "config.toml").exists()
    assert contents() == {}


def test_a_second_file_that_cannot_be_written_undoes_the_first(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = furnish("claude")
    written = disk.replace_file

    def fail(path: Path, data: bytes, *, is_theirs: bool) -> None:
        if path.name == "settings.json":
            raise WriteError(f"{path}: no space left", "free some")
        written(path, data, is_theirs=is_theirs)

    monkeypatch.setattr(installing, "replace_file", fail)
    done = here.run("install", "claude", "--yes")
    assert (done.code, contents()) == (3, before)
    assert not list((here.home.path / installing.FOLDER).glob("*"))


def test_a_client_that_is_not_known_is_refused(here: Place) -> None:
    done = here.run("install", "nano", "--yes")
    assert done.code == 2
    assert done.err.startswith("✗ nothing can be installed into `nano`\n")
