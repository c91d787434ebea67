"""What the settings say of packs."""

import pytest

from blackbird.config import layers, settings
from blackbird.config.resolve import Config, resolve
from blackbird.pack import limits
from blackbird.pack.model import Caps

SECTIONS = [name for name in Caps.__struct_fields__ if name != "total"]


def config(text: str = "") -> Config:
    return resolve([layers.from_defaults(), layers.from_file(text, "config.toml", "user file")])


@pytest.mark.requirement("BUDGET-01", "BUDGET-02", "CONFIG-05")
def test_what_is_not_set_is_as_the_model_says() -> None:
    assert limits.caps(config()) == Caps()
    assert limits.counter(config()).name == "plain/2"


@pytest.mark.requirement("BUDGET-03", "CONFIG-05")
@pytest.mark.parametrize("name", SECTIONS)
def test_every_cap_is_read(name: str) -> None:
    found = limits.caps(config(f"[context]\n{name}_tokens = 17"))
    assert {each: getattr(found, each) for each in SECTIONS} == {
        each: 17 if each == name else getattr(Caps(), each) for each in SECTIONS
    }


@pytest.mark.requirement("CONFIG-05")
def test_the_total_is_read_and_another_can_be_asked_for() -> None:
    text = "[context]\nbudget_tokens = 900"
    assert (limits.caps(config(text)).total, limits.caps(config(text), 300).total) == (900, 300)


@pytest.mark.requirement("BUDGET-03")
def test_the_counter_is_a_choice() -> None:
    assert limits.counter(config('[context]\ncounter = "o200k"')).name == "o200k/rs-bpe-1"
    assert settings.known()["context.counter"].choices == ("plain", "o200k")
