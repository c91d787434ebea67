"""The table of settings itself."""

import re

import pytest

from blackbird.config import settings, values
from blackbird.config.settings import PLANNED, READERS, RECORDER

EVERY = list(settings.known().values())


@pytest.mark.parametrize("setting", EVERY, ids=lambda setting: setting.name)
def test_a_setting_is_whole(setting: settings.Setting) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z_]+", setting.name)
    assert setting.read_by in READERS or setting.read_by.startswith(PLANNED)
    assert bool(setting.choices) == (setting.type == "choice")
    assert setting.help.strip() == setting.help != ""
    if setting.default is not None:
        assert values.show(setting, values.check(setting, setting.default)) == setting.default


def test_names_and_variables_are_unique() -> None:
    assert len({setting.variable for setting in EVERY}) == len(EVERY)
    assert settings.known()["proxy.listen"].variable == "BLACKBIRD_PROXY_LISTEN"


def test_no_table_begins_with_the_name_of_another_so_that_variables_are_clear() -> None:
    names = settings.sections()
    assert not [(one, other) for one in names for other in names if one != other and one.startswith(other)]


@pytest.mark.parametrize(
    "name",
    [
        "memory.mode",
        "proxy.upstream_url",
        "proxy.lossless",
        "trace.retention_days",
        "trace.max_size",
        "trace.rotate_size",
        "trace.rotate_age",
        "context.budget_tokens",
        "context.decisions_tokens",
        "context.constraints_tokens",
        "context.implemented_tokens",
        "context.open_threads_tokens",
        "context.pointers_tokens",
        "retrieval.k_default",
        "retrieval.max_snippet_tokens",
        "enrichment.local_endpoint",
        "enrichment.provider_model",
        "redaction.ruleset_version",
        "proxy.mode",
    ],
)
def test_every_knob_has_its_name(name: str) -> None:
    assert settings.look_up(name) is not None


@pytest.mark.parametrize("section", ["proxy", "upstreams", "redaction", "enrichment", "trace", "memory"])
def test_a_project_has_no_say_in_these(section: str) -> None:
    found = [setting for setting in EVERY if setting.section == section] or [settings.upstream_setting("local")]
    assert {setting.trust for setting in found} == {"user"}


def test_only_the_tokens_are_secret() -> None:
    assert [setting.name for setting in EVERY if setting.secret] == ["proxy.token", "mcp.token"]


@pytest.mark.parametrize("name", ["a", "local", "my-model-2", "0x"])
def test_an_upstream_can_have_that_name(name: str) -> None:
    assert settings.is_upstream_name(name)
    found = settings.look_up(f"upstreams.{name}")
    assert found is not None
    assert (found.type, found.read_by) == ("url", RECORDER)


@pytest.mark.parametrize("name", ["", "-a", "A", "a_b", "a/b", "a.b", "bb", "bbt", "_blackbird", "a" * 65, "ä"])
def test_an_upstream_cannot_have_that_name(name: str) -> None:
    assert settings.look_up(f"upstreams.{name}") is None


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("proxy.listn", "did you mean proxy.listen?"),
        ("trace.retention", "did you mean trace.retention_days?"),
        ("prox.listen", "did you mean proxy.listen?"),
        ("upstreams.BB", "a name of an upstream is lower case, digits and -, and none of _blackbird, bb, bbt"),
    ],
)
def test_the_nearest_name_is_suggested(wrong: str, meant: str) -> None:
    assert settings.suggest(wrong) == meant


def test_a_name_like_no_other_is_answered_with_the_tables() -> None:
    assert settings.suggest("qqqq").startswith("the tables are memory, proxy, trace, ")
