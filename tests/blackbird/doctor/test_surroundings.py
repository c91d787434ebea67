"""Base URLs, proxies and retentions: read from variables and files that may hold anything, shown without secrets."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.authority.problems import Level
from blackbird.doctor.checks.surroundings import check
from blackbird.doctor.facts.logs import Logs
from blackbird.doctor.facts.surroundings import Pointer, Retention, Surroundings, gather, host_of
from blackbird.doctor.findings import Finding
from blackbird.doctor.native import Client

DAY = 86_400 * 1_000_000_000
LISTEN = "127.0.0.1:4141"


def put(user: Path, name: str, text: str) -> Path:
    path = user / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_all_that_is_set_is_found_and_no_secret_of_it_kept(tmp_path: Path) -> None:
    settings = {"env": {"ANTHROPIC_BASE_URL": "https://me:geheim@gw.example/key=geheim", "PATH": "geheim", "X": 1}}
    claude = put(tmp_path, ".claude/settings.json", json.dumps({**settings, "cleanupPeriodDays": 20}))
    toml = 'openai_base_url = "https://a.example:8443/v1"\n[model_providers.lab]\nbase_url = "http://b.example/"\n'
    codex = put(tmp_path, ".codex/config.toml", toml + '[history]\npersistence = "none"\n')
    retention = {"general": {"sessionRetention": {"maxAge": "7d", "maxCount": 50}}}
    gemini = put(tmp_path, ".gemini/settings.json", json.dumps(retention))
    variables = {
        "OPENAI_BASE_URL": "http://geheim@c.example",
        "HTTPS_PROXY": "http://u:geheim@10.0.0.1:8080",
        "A": "",
    }
    found = gather(variables, tmp_path, tmp_path / "work")
    assert found == Surroundings(
        variables=[Pointer("the environment", "OPENAI_BASE_URL", "c.example")],
        settings=[
            Pointer(str(claude), "env.ANTHROPIC_BASE_URL", "gw.example"),
            Pointer(str(codex), "openai_base_url", "a.example:8443"),
            Pointer(str(codex), "model_providers.lab.base_url", "b.example"),
        ],
        proxies=[Pointer("the environment", "HTTPS_PROXY", "10.0.0.1:8080")],
        retentions=[
            Retention(Client.CLAUDE, "20 days", str(claude)),
            Retention(Client.CODEX, "none at all", str(codex)),
            Retention(Client.GEMINI, "7d or 50 sessions", str(gemini)),
        ],
    )
    assert b"geheim" not in msgspec.json.encode(found)


def test_folders_that_variables_name_are_looked_at_in_place_of_the_usual(tmp_path: Path) -> None:
    put(tmp_path, ".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "http://usual.example"}}')
    other = put(tmp_path, "other/settings.json", '{"cleanupPeriodDays": 99999}')
    found = gather({"CLAUDE_CONFIG_DIR": str(other.parent)}, tmp_path, tmp_path / "work")
    assert found.settings == []
    assert found.retentions == [Retention(Client.CLAUDE, "99999 days", str(other), is_off=True)]


def test_without_agents_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert gather({}, tmp_path, tmp_path / "work") == Surroundings()


def test_settings_of_the_project_are_looked_at_first(tmp_path: Path) -> None:
    text = '{"env": {"ANTHROPIC_BASE_URL": "https://NAME.example"}}'
    user = put(tmp_path, ".claude/settings.json", text.replace("NAME", "user"))
    project = put(tmp_path, "work/.claude/settings.json", text.replace("NAME", "project"))
    local = put(tmp_path, "work/.claude/settings.local.json", text.replace("NAME", "local"))
    assert gather({}, tmp_path, tmp_path / "work").settings == [
        Pointer(str(local), "env.ANTHROPIC_BASE_URL", "local.example"),
        Pointer(str(project), "env.ANTHROPIC_BASE_URL", "project.example"),
        Pointer(str(user), "env.ANTHROPIC_BASE_URL", "user.example"),
    ]
    assert [each.place for each in gather({}, tmp_path, tmp_path).settings] == [str(user)]


@pytest.mark.parametrize(
    "text", ["[", '{"env": 3, "cleanupPeriodDays": "x"}', "[]", "3", '{"env": {"OPENAI_BASE_URL": []}}']
)
def test_settings_of_any_shape_are_borne(tmp_path: Path, text: str) -> None:
    for name in (".claude/settings.json", ".gemini/settings.json", ".codex/config.toml"):
        put(tmp_path, name, text)
    found = gather({}, tmp_path, tmp_path / "work")
    assert found.settings == []
    assert [each.text for each in found.retentions] == ["30 days", "30d"]
    assert len(found.unreadable) == (3 if text == "[" else 1)


@given(st.text())
def test_of_a_url_only_the_host_is_told(url: str) -> None:
    shown = host_of(f"https://someone:geheim@host.example/{url.replace('@', '')}")
    assert "geheim" not in shown
    assert host_of(url)


LOGS = [Logs(Client.CLAUDE, Path("logs"), 3, 10 * DAY), Logs(Client.GEMINI, Path("logs"))]


def findings(found: Surroundings, *, is_running: bool = True) -> list[Finding]:
    return list(check(found, LOGS, LISTEN, 40 * DAY, is_running=is_running))


def test_a_base_url_of_the_recorder_is_well_as_long_as_it_runs() -> None:
    found = Surroundings(variables=[Pointer("the environment", "ANTHROPIC_BASE_URL", LISTEN)])
    assert [(each.id, each.level) for each in findings(found)] == [("variable-anthropic-base-url", Level.OK)]
    assert [(each.level, each.remedy) for each in findings(found, is_running=False)] == [
        (Level.WARNING, "blackbird up")
    ]


def test_other_base_urls_are_told_with_where_they_stand() -> None:
    found = Surroundings(
        variables=[Pointer("the environment", "OPENAI_BASE_URL", "c.example")],
        settings=[Pointer("/u/.codex/config.toml", "model_providers.lab.base_url", "b.example")],
        proxies=[Pointer("the environment", "HTTPS_PROXY", "10.0.0.1:8080")],
        unreadable=["x is no JSON"],
    )
    assert [(each.id, each.level, each.evidence) for each in findings(found)] == [
        ("variable-openai-base-url", Level.NOTE, "c.example, in the environment"),
        ("setting-base-url", Level.NOTE, "b.example, in /u/.codex/config.toml"),
        ("proxy-set", Level.NOTE, "HTTPS_PROXY = 10.0.0.1:8080"),
        ("settings-unreadable", Level.NOTE, "x is no JSON"),
    ]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("env.ANTHROPIC_BASE_URL", "blackbird run -- AGENT records it, and takes it as where to send on"),
        ("openai_base_url", "blackbird run -- AGENT records it, and takes it as where to send on"),
        ("env.HTTPS_PROXY", "take the line out of that file: with it, nothing of that agent is recorded"),
        (
            "model_providers.lab.base_url",
            (
                "take the line out of that file, or set the URL as an upstream of the recorder: "
                "blackbird run -- AGENT then records it if it is https"
            ),
        ),
    ],
)
def test_a_remedy_for_a_base_url_in_settings_is_one_that_records(name: str, remedy: str) -> None:
    found = Surroundings(settings=[Pointer("/u/settings", name, "b.example")])
    assert [each.remedy for each in findings(found)] == [remedy]


def test_logs_that_an_agent_deletes_are_told_with_their_age() -> None:
    found = Surroundings(
        retentions=[
            Retention(Client.CLAUDE, "30 days", "/u/.claude/settings.json", is_default=True),
            Retention(Client.GEMINI, "30d", "/u/.gemini/settings.json"),
            Retention(Client.CODEX, "none at all", "/u/.codex/config.toml"),
        ]
    )
    assert [each for each in findings(found) if each.level is Level.NOTE] == [
        Finding(
            "claude-retention",
            Level.NOTE,
            "claude deletes its own logs after 30 days, which is its default",
            "3 logs, the oldest from 30 days ago",
            "to keep them, set cleanupPeriodDays to 36500 in /u/.claude/settings.json",
        ),
        Finding(
            "codex-retention",
            Level.NOTE,
            "codex keeps no history of its own",
            "",
            'to have them, set history.persistence to "save-all" in /u/.codex/config.toml',
        ),
    ]
    kept = Surroundings(retentions=[Retention(Client.CLAUDE, "99999 days", "x", is_off=True)])
    assert [(each.id, each.level) for each in findings(kept)][1:] == [("claude-keeps", Level.OK)]
