"""An approved plan is a decision, by its title; a refused one is none."""

import pytest

from blackbird.artifacts.scene import Scene
from blackbird.artifacts.signals import plans
from tests.blackbird.artifacts.stories import Story


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        ("# Plan: Move the lamps\n\n1. Unscrew", "Move the lamps"),
        ("Some words.\n\n## Implementation plan — light the quay\n", "light the quay"),
        ("Move the lamps, then light them.\nMore.", "Move the lamps, then light them."),
        ("# Plan\nMove", "Plan"),
    ],
)
def test_an_approved_plan(plan: str, title: str) -> None:
    story = Story()
    story.call("ExitPlanMode", {"plan": plan}, "User has approved your plan. You can now start coding.")
    (claim,) = plans.claims(Scene(story.timeline()))
    assert claim.statement == f"Plan approved: {title}"
    assert [story.has(place) for place in claim.provenance] == [True, True]


def test_a_refused_plan_is_none() -> None:
    story = Story()
    story.call("ExitPlanMode", {"plan": "# A"}, "The user doesn't want to proceed", error=True)
    story.call("ExitPlanMode", {"plan": "# B"}, "", details={"is_rejected": True})
    story.call("ExitPlanMode", {"plan": "# C"}, None)
    assert list(plans.claims(Scene(story.timeline()))) == []
