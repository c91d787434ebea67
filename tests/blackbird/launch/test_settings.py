"""Base URLs in the user's own files."""

from pathlib import Path

import pytest

from blackbird.agents import table
from blackbird.agents.table import Client
from blackbird.launch import settings


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def client(name: str) -> Client:
    return next(each for each in table.clients() if each.name == name)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_codex(user: Path) -> None:
    write(user / ".codex" / "config.toml", 'model = "m"\nopenai_base_url = "https://gateway.example/v1"\n')
    assert [(setting.upstream, url) for setting, url in settings.find(client("codex"), {})] == [
        ("openai", "https://gateway.example/v1")
    ]


def test_codex_with_a_home_of_its_own(user: Path) -> None:
    write(user / "elsewhere" / "config.toml", 'openai_base_url = "https://b.example/v1"\n')
    environ = {"CODEX_HOME": str(user / "elsewhere")}
    assert [url for _, url in settings.find(client("codex"), environ)] == ["https://b.example/v1"]


def test_claude(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    write(user / ".claude" / "settings.json", '{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}')
    assert [url for _, url in settings.find(client("claude"), {})] == ["https://gateway.example"]


def test_claude_of_the_project_goes_before_the_users(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"env": {"ANTHROPIC_BASE_URL": "https://NAME.example"}}'
    project = user / "project"
    project.mkdir()
    monkeypatch.chdir(project)

    def counts() -> dict[str, str]:
        return {setting.upstream: url for setting, url in settings.find(client("claude"), {})}

    write(user / ".claude" / "settings.json", text.replace("NAME", "user"))
    assert counts() == {"anthropic": "https://user.example"}
    write(project / ".claude" / "settings.json", text.replace("NAME", "project"))
    assert counts() == {"anthropic": "https://project.example"}
    write(project / ".claude" / "settings.local.json", text.replace("NAME", "local"))
    assert counts() == {"anthropic": "https://local.example"}


def test_opencode_of_the_project_goes_before_the_users(user: Path) -> None:
    text = '{"provider": {"anthropic": {"options": {"baseURL": "https://NAME.example/v1"}}}}'
    write(user / ".config" / "opencode" / "opencode.json", text.replace("NAME", "user"))
    write(user / "opencode.json", text.replace("NAME", "project"))
    found = {setting.upstream: url for setting, url in settings.find(client("opencode"), {})}
    assert found == {"anthropic": "https://project.example/v1"}


@pytest.mark.parametrize("text", ["", "openai_base_url = 3", "= broken", "[openai_base_url]\nx = 1", '{"a": '])
def test_a_file_without_one_is_passed_over(user: Path, text: str) -> None:
    write(user / ".codex" / "config.toml", text)
    write(user / ".claude" / "settings.json", text)
    assert settings.find(client("codex"), {}) == []
    assert settings.find(client("claude"), {}) == []


@pytest.mark.parametrize(
    "line",
    [
        "OPENAI_BASE_URL=https://gateway.example/v1",
        'export OPENAI_BASE_URL = "https://gateway.example/v1"  # mine',
        "OPENAI_BASE_URL='https://gateway.example/v1'",
    ],
)
def test_a_dotenv_file(user: Path, line: str) -> None:
    write(user / ".env", f"# a\nOTHER=1\n\n{line}\nOPENAI_API_KEY=word\n")
    assert settings.dotenv(client("qwen"), user) == {"OPENAI_BASE_URL": "https://gateway.example/v1"}


def test_a_dotenv_file_counts_up_to_the_root_of_the_repository(user: Path) -> None:
    write(user / "above" / ".env", "OPENAI_BASE_URL=https://gateway.example/v1\n")
    below = user / "above" / "repository" / "src"
    below.mkdir(parents=True)
    assert settings.dotenv(client("qwen"), below) == {}
    (below.parent / ".git").mkdir()
    assert settings.dotenv(client("qwen"), below) == {}
    write(below.parent / ".env", "OPENAI_BASE_URL=http://box\n")
    assert settings.dotenv(client("qwen"), below) == {"OPENAI_BASE_URL": "http://box"}


def test_a_dotenv_file_in_the_home(user: Path) -> None:
    write(user / ".qwen" / ".env", "OPENAI_BASE_URL=https://models.example/v1\n")
    folder = user / "work"
    folder.mkdir()
    assert settings.dotenv(client("qwen"), folder) == {"OPENAI_BASE_URL": "https://models.example/v1"}


def test_a_dotenv_file_that_cannot_be_read_is_passed_over(user: Path) -> None:
    (user / ".env").write_bytes(b"OPENAI_BASE_URL=\xff\n")
    assert settings.dotenv(client("qwen"), user) == {}


@pytest.mark.parametrize("name", [each.name for each in table.clients() if each.name not in ("gemini", "qwen")])
def test_a_folder_says_nothing_to_a_program_that_reads_no_such_file(user: Path, name: str) -> None:
    folder = user / "cloned"
    every = "".join(f"{variable}=https://elsewhere.example\n" for variable in table.table().variable)
    write(folder / ".env", every)
    (folder / ".git").mkdir()
    assert settings.dotenv(client(name), folder) == {}
