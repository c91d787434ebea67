"""What the recorder gets to read."""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.config import layers, render, settings
from blackbird.config.resolve import Config, resolve
from blackbird.home import Home

HOME = Home(Path("/somewhere"), Path("/somewhere/config.toml"))

#: For each setting that the recorder reads, a value that is not its default.
OTHER: dict[str, str] = {
    "proxy.upstream_url": '"https://box.example"',
    "proxy.listen": '"127.0.0.1:5"',
    "proxy.token": '"a-long-random-word"',
    "proxy.allowed_hosts": '["box"]',
    "proxy.allowed_origins": '["https://box"]',
    "proxy.lossless": "false",
    "proxy.hooks": "false",
    "proxy.queue_size": '"1 MiB"',
    "proxy.drain_seconds": "1",
    "proxy.ca_file": '"/ca.pem"',
    "proxy.threads": "2",
    "proxy.mode": '"passthrough"',
    "proxy.websocket": '"decline"',
    "trace.retention_days": "30",
    "trace.max_size": '"1 GB"',
    "trace.rotate_size": '"2 MiB"',
    "trace.rotate_age": '"2 h"',
    "trace.persist": '"each"',
    "trace.sync_interval": '"5 ms"',
    "trace.seal": "false",
    "redaction.ruleset_version": '"2026.11.2"',
    "redaction.off": '["entropy"]',
    "redaction.on": '["entropy"]',
    "redaction.allow": "['x+']",
    "redaction.rule": "[{id = 'harbour', kind = 'harbour', pattern = 'hbr_[a-z]{12}'}]",
    "redaction.keep_undecodable": "true",
    "redaction.decode_memory": '"1 MiB"',
    "redaction.decoded_limit": '"1 MiB"',
    "upstreams.local": '"http://127.0.0.1:8000"',
}


def config(text: str = "") -> Config:
    return resolve([layers.from_defaults(), layers.from_file(text, "config.toml", "user file")])


def rendered(text: str = "") -> dict[str, Any]:
    return render.recorder_config(config(text), HOME)


def test_the_defaults_are_those_of_the_recorder() -> None:
    assert rendered() == {
        "schema": "recorder-config/1",
        "home": "/somewhere",
        "listen": "127.0.0.1:4141",
        "token": None,
        "control_socket": "/somewhere/run/control.sock",
        "allowed_hosts": [],
        "allowed_origins": [],
        "upstreams": {
            "anthropic": "https://api.anthropic.com",
            "openai": "https://api.openai.com",
            "gemini": "https://generativelanguage.googleapis.com",
            "ollama": "http://127.0.0.1:11434",
            "lmstudio": "http://127.0.0.1:1234",
            "chatgpt": "https://chatgpt.com",
            "codeassist": "https://cloudcode-pa.googleapis.com",
            "openrouter": "https://openrouter.ai",
            "copilot": "https://api.githubcopilot.com",
            "deepseek": "https://api.deepseek.com",
            "mistral": "https://api.mistral.ai",
            "xai": "https://api.x.ai",
            "groq": "https://api.groq.com",
            "dashscope": "https://dashscope.aliyuncs.com",
        },
        "default_upstream": None,
        "intercept": {
            "api.anthropic.com:443": "anthropic",
            "api.openai.com:443": "openai",
            "generativelanguage.googleapis.com:443": "gemini",
            "127.0.0.1:11434": "ollama",
            "127.0.0.1:1234": "lmstudio",
            "chatgpt.com:443": "chatgpt",
            "cloudcode-pa.googleapis.com:443": "codeassist",
            "openrouter.ai:443": "openrouter",
            "api.githubcopilot.com:443": "copilot",
            "api.deepseek.com:443": "deepseek",
            "api.mistral.ai:443": "mistral",
            "api.x.ai:443": "xai",
            "api.groq.com:443": "groq",
            "dashscope.aliyuncs.com:443": "dashscope",
        },
        "ca_file": None,
        "mode": "full",
        "websocket": "relay",
        "hooks": True,
        "lossless": True,
        "queue_bytes": 33554432,
        "keep_undecodable": False,
        "decode_memory": 33554432,
        "decoded_limit": 268435456,
        "drain_seconds": 30,
        "threads": None,
        "trace": {
            "persist": "grouped",
            "sync_ms": 20,
            "rotate_bytes": 134217728,
            "rotate_seconds": 3600,
            "retention_days": None,
            "max_bytes": None,
            "seal": True,
        },
        "redaction": {"ruleset_version": None, "off": [], "on": [], "allow": [], "rules": None},
    }


def test_a_provider_behind_a_gateway_is_recorded_by_its_own_name_and_by_the_gateways() -> None:
    text = '[upstreams]\nanthropic = "https://Gateway.example/anthropic"\nopenai = "https://gateway.example/openai"'
    hosts = rendered(text)["intercept"]
    assert hosts["api.anthropic.com:443"] == "anthropic"
    assert hosts["api.openai.com:443"] == "openai"
    assert hosts["gateway.example:443"] == "anthropic"
    assert set(hosts) == {*rendered()["intercept"], "gateway.example:443"}


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://box.example", "box.example:80"),
        ("https://box.example:8443/path", "box.example:8443"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("https://[::1]", "[::1]:443"),
    ],
)
def test_hosts_are_told_with_their_ports(url: str, authority: str) -> None:
    hosts = rendered(f'[upstreams]\nlocal = "{url}"')["intercept"]
    assert hosts[authority] == "local"


def test_a_providers_own_host_cannot_be_taken_by_another_name() -> None:
    assert rendered('[upstreams]\nmine = "https://api.anthropic.com/x"')["intercept"] == rendered()["intercept"]


@pytest.mark.requirement("CONFIG-02")
def test_the_default_upstream_is_set() -> None:
    assert rendered('[proxy]\nupstream_url = "https://box.example/"')["default_upstream"] == "https://box.example"


@pytest.mark.requirement("CONFIG-03")
@pytest.mark.parametrize("lossless", [True, False])
def test_lossless_is_a_switch(lossless: bool) -> None:
    assert rendered(f"[proxy]\nlossless = {str(lossless).lower()}")["lossless"] is lossless


@pytest.mark.requirement("CONFIG-04")
def test_retention_size_and_rotation_are_read() -> None:
    text = '[trace]\nretention_days = 30\nmax_size = "2 GB"\nrotate_size = "64 MiB"\nrotate_age = "10 min"'
    trace = rendered(text)["trace"]
    assert (trace["retention_days"], trace["max_bytes"]) == (30, 2_000_000_000)
    assert (trace["rotate_bytes"], trace["rotate_seconds"]) == (67_108_864, 600)


@pytest.mark.requirement("CONFIG-09")
def test_an_older_rule_set_can_be_pinned() -> None:
    assert rendered('[redaction]\nruleset_version = "2026.11.2"')["redaction"]["ruleset_version"] == "2026.11.2"


@pytest.mark.requirement("CONFIG-10")
@pytest.mark.parametrize("mode", ["full", "privacy", "passthrough"])
def test_the_mode_is_a_setting_of_its_own(mode: str) -> None:
    changed = rendered(f'[proxy]\nmode = "{mode}"')
    assert changed == {**rendered(), "mode": mode}


def test_every_setting_is_read_by_somebody_or_planned() -> None:
    readers = {name: setting.read_by for name, setting in settings.known().items() if not setting.is_planned}
    assert set(readers.values()) == set(settings.READERS)
    assert set(OTHER) == {name for name, reader in readers.items() if reader == settings.RECORDER} | {
        "upstreams.local"
    }


@pytest.mark.parametrize(("name", "value"), OTHER.items(), ids=OTHER)
def test_what_the_recorder_reads_reaches_it(name: str, value: str) -> None:
    section, _, key = name.partition(".")
    assert rendered(f"[{section}]\n{key} = {value}") != rendered()


@pytest.mark.parametrize(
    "text", ["[context]\nbudget_tokens = 200", "[retrieval]\nk_default = 3", '[memory]\nmode = "local"']
)
def test_what_others_read_or_is_planned_does_not(text: str) -> None:
    assert rendered(text) == rendered()


def test_it_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", tmp_path / "home" / "config.toml")
    home.run.mkdir(parents=True)
    home.recorder_json.touch(0o644)
    render.write(config('[proxy]\ntoken = "a-long-random-word"'), home)
    assert stat.S_IMODE(home.recorder_json.stat().st_mode) == 0o600
    assert json.loads(home.recorder_json.read_bytes())["token"] == "a-long-random-word"


_RULE = st.fixed_dictionaries(
    {"id": st.text(), "pattern": st.text(st.characters(exclude_categories=["Cs"]))},
    optional={"fold": st.booleans(), "anchors": st.lists(st.text())},
)


@given(st.lists(_RULE, min_size=1, max_size=3))
def test_rules_come_out_as_they_went_in(rules: list[dict[str, Any]]) -> None:
    text = render.rules_toml(rules)
    assert text is not None
    assert tomllib.loads(text) == {"rule": [{"class": "user", **rule} for rule in rules]}


def test_a_class_that_was_named_is_kept() -> None:
    assert render.rules_toml([{"id": "a", "class": "keys"}]) == '[[rule]]\nclass = "keys"\nid = "a"\n'
