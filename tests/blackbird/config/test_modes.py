"""What is said of a mode that asks for more than there is."""

import pytest

from blackbird.config import modes, settings
from blackbird.doctor.checks import memory


@pytest.mark.requirement("CONFIG-01")
def test_rules_alone_make_memory_and_other_modes_say_so() -> None:
    setting = settings.known()["memory.mode"]
    assert (setting.choices, setting.default) == (("deterministic", "local", "provider"), "deterministic")
    assert modes.unmet("deterministic") is None
    assert modes.unmet("local") == (
        'memory.mode is "local", but nothing asks a model yet: rules alone make memory, as "deterministic" does'
    )


@pytest.mark.requirement("CONFIG-01")
@pytest.mark.parametrize(("mode", "found"), [("deterministic", []), (None, []), ("provider", ["memory-mode"])])
def test_the_doctor_knows(mode: str | None, found: list[str]) -> None:
    assert [each.id for each in memory.check(mode)] == found
