"""What files, variables and options set, and what they may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.config import layers, settings
from blackbird.config.layers import Assignment
from blackbird.errors import ConfigError


def told(assignments: list[Assignment]) -> dict[str, tuple[object, str]]:
    return {each.setting.name: (each.value, str(each.origin)) for each in assignments}


def test_defaults_name_every_setting_and_the_known_upstreams() -> None:
    found = told(layers.from_defaults())
    assert found["proxy.listen"] == ("127.0.0.1:4141", "default")
    assert found["trace.max_size"] == (None, "default")
    assert found["upstreams.ollama"] == ("http://127.0.0.1:11434", "default")
    assert set(found) >= set(settings.known())


def test_a_file_sets_with_its_lines() -> None:
    text = '# mine\n[proxy]\nlisten = "127.0.0.1:1"\n\n[ upstreams ]\nlocal = "http://box"\n'
    assert told(layers.from_file(text, "config.toml", "user file")) == {
        "proxy.listen": ("127.0.0.1:1", "config.toml:3"),
        "upstreams.local": ("http://box", "config.toml:6"),
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[proxy]\nmode = 1", 2),
        ("proxy.mode = 1", 1),
        ('x = """\n"""\n["proxy"] # here\n\n "mode"= 1', 5),
        ("[trace]\nmode = 1\n[proxy]\nmode = 1", 4),
        ("proxy = {mode = 1}", None),
        ("[other]\nproxy.mode = 1", None),
        ("", None),
    ],
)
def test_the_line_of_a_key_is_found(text: str, line: int | None) -> None:
    assert layers.locate(text, "proxy", "mode") == line


@pytest.mark.requirement("CONFIG-13")
@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("[proxy]\nlistn = 1", "file:2: there is no setting proxy.listn", "did you mean proxy.listen?"),
        ("[prox]\nlisten = 1", "file:1: there is no table [prox] of settings", "did you mean proxy.mode?"),
        ("proxy = 1", "file:1: there is no table [proxy] of settings", ""),
        ("[upstreams]\nbb = 'http://x'", "file:2: there is no setting upstreams.bb", "a name of an upstream"),
        (
            "[proxy]\nmode = 'ful'",
            "file:2: proxy.mode: the value 'ful' is none of full, privacy, passthrough",
            "proxy.mode: full: all is recorded",
        ),
        (
            "[trace]\nmax_size = 5",
            'file:2: trace.max_size: the value 5 has no unit; write it as in "32 MiB"',
            "trace.max_size: The oldest",
        ),
    ],
)
def test_an_unknown_name_or_a_bad_value_is_an_error_with_its_place(text: str, message: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        layers.from_file(text, "file", "user file")
    assert caught.value.message == message
    assert remedy in caught.value.remedy


def test_broken_toml_is_told_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"^file: no TOML: .*\(at line 2, column 10\)") as caught:
        layers.from_file("[proxy]\nlisten = \n", "file", "user file")
    assert caught.value.remedy.startswith("mend that place")


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5000], ids=["deep", "long"])
def test_toml_that_python_cannot_hold_is_told(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^file: no TOML: "):
        layers.from_file(text, "file", "user file")


@pytest.mark.parametrize(
    ("name", "value"),
    [("proxy.token", "secret word"), ("upstreams.a", "https://me:secret@box"), ("proxy.upstream_url", "secret")],
)
def test_a_bad_secret_is_never_repeated(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        layers.from_options([("--option", name, value)])
    assert "secret" not in caught.value.message + caught.value.remedy


@pytest.mark.requirement("CONFIG-12")
@pytest.mark.parametrize(
    "text",
    [
        '[proxy]\nupstream_url = "https://evil.example"',
        '[proxy]\nlisten = "0.0.0.0:1"',
        'proxy.mode = "passthrough"',
        '[upstreams]\nanthropic = "https://evil.example"',
        '[redaction]\noff = ["keys"]',
        "[redaction]\nkeep_undecodable = true",
        '[enrichment]\nlocal_endpoint = "https://evil.example"',
        "[trace]\nretention_days = 1",
        '[memory]\nmode = "provider"',
    ],
)
def test_a_project_cannot_set_what_is_the_users(text: str) -> None:
    assert layers.from_file(text, "config.toml", "user file")
    with pytest.raises(ConfigError, match=r"^\.blackbird\.toml:\d: .* is not for a project's file: ") as caught:
        layers.from_file(text, ".blackbird.toml", "project file")
    assert caught.value.remedy == "set it in your own file; blackbird config path tells where that is"


def test_a_project_sets_what_is_harmless() -> None:
    found = layers.from_file("[context]\nbudget_tokens = 900", ".blackbird.toml", "project file")
    assert told(found) == {"context.budget_tokens": (900, ".blackbird.toml:2")}


def test_variables_set() -> None:
    found = layers.from_environment(
        {
            "BLACKBIRD_PROXY_LISTEN": "127.0.0.1:9",
            "BLACKBIRD_PROXY_LOSSLESS": "false",
            "BLACKBIRD_TRACE_RETENTION_DAYS": "30",
            "BLACKBIRD_UPSTREAMS_MY_MODEL": "http://box",
            "BLACKBIRD_PROXY_TOKEN": "",
            "BLACKBIRD_HOME": "/somewhere",
            "BLACKBIRD_SESSION": "harbour",
            "PROXY_LISTEN": "nothing to do with it",
        }
    )
    assert told(found) == {
        "proxy.listen": ("127.0.0.1:9", "BLACKBIRD_PROXY_LISTEN"),
        "proxy.lossless": (False, "BLACKBIRD_PROXY_LOSSLESS"),
        "trace.retention_days": (30, "BLACKBIRD_TRACE_RETENTION_DAYS"),
        "upstreams.my-model": ("http://box", "BLACKBIRD_UPSTREAMS_MY_MODEL"),
    }


@pytest.mark.requirement("CONFIG-13")
@pytest.mark.parametrize(
    ("variable", "text", "message", "remedy"),
    [
        ("BLACKBIRD_PROXY_LISTN", "x", "BLACKBIRD_PROXY_LISTN: there is no setting proxy.listn", "proxy.listen?"),
        ("BLACKBIRD_UPSTREAMS_BB", "x", "BLACKBIRD_UPSTREAMS_BB: there is no setting upstreams.bb", "none of"),
        (
            "BLACKBIRD_PROXY_LOSSLESS",
            "no",
            "BLACKBIRD_PROXY_LOSSLESS: proxy.lossless: the value 'no' is neither true nor false",
            "proxy.lossless: ",
        ),
        (
            "BLACKBIRD_REDACTION_ALLOW",
            "x",
            "BLACKBIRD_REDACTION_ALLOW: redaction.allow: the value cannot be told in a word; set it in a file",
            "redaction.allow: ",
        ),
    ],
)
def test_a_variable_that_cannot_be_used_is_an_error(variable: str, text: str, message: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        layers.from_environment({variable: text})
    assert caught.value.message == message
    assert remedy in caught.value.remedy


def test_options_set_and_say_which() -> None:
    found = layers.from_options([("--mode", "proxy.mode", "privacy"), ("--upstream", "upstreams.a", "http://a")])
    assert told(found) == {"proxy.mode": ("privacy", "--mode"), "upstreams.a": ("http://a", "--upstream")}


def test_an_option_given_twice_for_one_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"--upstream: upstreams\.a is given twice"):
        layers.from_options([("--upstream", "upstreams.a", "http://a"), ("--upstream", "upstreams.a", "http://b")])


@given(st.text())
def test_any_file_is_settings_or_one_error(text: str) -> None:
    try:
        layers.from_file(text, "file", "user file")
    except ConfigError as error:
        refusal = error.message
    else:
        refusal = "file is fine"
    assert refusal.startswith("file")


def test_every_section_that_a_project_may_not_set_says_what_is_at_stake() -> None:
    for setting in settings.known().values():
        if setting.trust != "project":
            section, _, key = setting.name.partition(".")
            with pytest.raises(ConfigError, match="is not for a project's file"):
                layers.from_file(f"[{section}]\n{key} = 1\n", ".blackbird.toml", "project file")
