"""Which value wins, and what makes no sense together."""

import pytest

from blackbird.config import layers, settings
from blackbird.config.resolve import Config, resolve
from blackbird.errors import ConfigError


def user(text: str) -> Config:
    return resolve([layers.from_defaults(), layers.from_file(text, "config.toml", "user file")])


@pytest.mark.requirement("CONFIG-11")
def test_option_before_variable_before_project_before_user_before_default() -> None:
    name = "context.budget_tokens"
    order = [
        layers.from_defaults(),
        layers.from_file("[context]\nbudget_tokens = 200", "config.toml", "user file"),
        layers.from_file("[context]\nbudget_tokens = 300", ".blackbird.toml", "project file"),
        layers.from_environment({"BLACKBIRD_CONTEXT_BUDGET_TOKENS": "400"}),
        layers.from_options([("--budget", name, "500")]),
    ]
    seen = [resolve(order[:count]).assignments[name] for count in range(1, 6)]
    assert [(each.value, each.origin.level, str(each.origin)) for each in seen] == [
        (1500, "default", "default"),
        (200, "user file", "config.toml:2"),
        (300, "project file", ".blackbird.toml:2"),
        (400, "environment", "BLACKBIRD_CONTEXT_BUDGET_TOKENS"),
        (500, "flag", "--budget"),
    ]


def test_upstreams_are_added_and_replaced_by_name() -> None:
    config = user('[upstreams]\nopenai = "http://127.0.0.1:1"\nlocal = "http://127.0.0.1:2"')
    assert config.upstreams == {
        **settings.built_in_upstreams(),
        "openai": "http://127.0.0.1:1",
        "local": "http://127.0.0.1:2",
    }


@pytest.mark.requirement("SEC-01")
@pytest.mark.parametrize("part", ["proxy", "mcp"])
@pytest.mark.parametrize("listen", ["0.0.0.0:4141", "[::]:4141", "192.0.2.7:4141"])
def test_listening_to_other_machines_needs_a_token(listen: str, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        user(f'[{part}]\nlisten = "{listen}"')
    assert caught.value.message == (
        f"config.toml:2: {part}.listen: {listen} can be reached from other machines, and {part}.token is not set"
    )
    assert caught.value.remedy == f"set {part}.token to a long random word, or listen on 127.0.0.1"
    config = user(f'[{part}]\nlisten = "{listen}"\ntoken = "a-long-random-word"')
    assert config[f"{part}.listen"] == listen


@pytest.mark.requirement("SEC-01")
def test_by_default_only_this_machine_is_listened_to() -> None:
    assert user("")["proxy.listen"] == "127.0.0.1:4141"
    assert user("")["mcp.listen"] == "127.0.0.1:4142"


def test_rotation_counts_in_whole_seconds() -> None:
    with pytest.raises(
        ConfigError, match=r"config\.toml:2: trace\.rotate_age: 1500 ms is no whole number of seconds"
    ):
        user('[trace]\nrotate_age = "1.5 s"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[redaction]\noff = ["nonsense"]', "no class `nonsense`"),
        ('[redaction]\nruleset_version = "1999.1.1"', "there is no rule set `1999.1.1`"),
        ("[redaction]\nallow = ['(']", "`allow` number 1"),
        ("[[redaction.rule]]\nid = 'x'", "rule `x`"),
    ],
)
def test_redaction_is_checked_as_blackbox_checks_it(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml") as caught:
        user(text)
    assert reason in caught.value.message
