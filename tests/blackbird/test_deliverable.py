"""Three tasks through the real recorder: each begins with what those before it came to, and leads to evidence."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blackbird.demo.chapters import CHAPTERS
from blackbird.demo.workshop import PLANTED, Workshop
from blackbird.provider import Provider
from tests.blackbird.launch.cockpit import BLACKBIRD, INJECT, Cockpit

#: An agent of the kind that is in no table: it finds the pack by its variable, and has the memory's tools.
AGENT = """#!{python}
import os, sys
from pathlib import Path
from blackbird.demo.agent import Agent
from blackbird.demo.workshop import Workshop
from blackbird.doors.opening import dispatcher

pack = os.environ.get("BLACKBIRD_PACK")
with dispatcher("tool", has_one_asker=True) as memory:
    text = Path(pack).read_text() if pack else ""
    Agent(os.environ["ANTHROPIC_BASE_URL"], Workshop(Path.cwd()), print, pack=text, memory=memory).work(sys.argv[1])
"""
_ID = re.compile(r"art_[a-z2-7]{8,16}")


class Story:
    """Three tasks of one session, and what each was told."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        agent = cockpit.program("scripted-agent", AGENT.format(python=sys.executable))
        Workshop(cockpit.work).furnish()
        self.ask("session", "new", "shop", "--goal", "A calculator that shops can trust")
        self.packs: list[str] = []
        self.sent: list[list[dict[str, Any]]] = []
        for chapter in CHAPTERS:
            words = ("--session", "shop", "--task", chapter.task, "--describe", chapter.order)
            told = cockpit.flight(*words, "--", agent, chapter.order)
            assert told["exit_code"] == 0
            self.sent.append([json.loads(each.request) for each in cockpit.exchanges(told["run"])])
            self.packs.append(self.sent[-1][0].get("system", ""))

    def ask(self, *words: str) -> list[dict[str, Any]]:
        """What a command says, for programs."""
        done = self.cockpit.direct(str(BLACKBIRD), *words, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.decode().splitlines()]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with Provider() as provider:
        cockpit = Cockpit(tmp_path_factory.mktemp("story"), provider)
        del cockpit.environ[INJECT]
        cockpit.up()
        try:
            yield Story(cockpit)
        finally:
            cockpit.down()


def section(pack: str, title: str) -> str:
    """The lines below a heading."""
    found = re.search(rf"^## {title}\n((?:[ -].*\n)+)", pack, re.MULTILINE)
    return found[1] if found is not None else ""


@pytest.mark.requirement("DELIV-01", "CORE-03", "CORE-04", "PACK-13")
def test_later_tasks_begin_with_what_the_earlier_ones_came_to(story: Story) -> None:
    first, second, third = story.packs
    assert "Use integer cents" not in first
    for pack in (second, third):
        assert "A calculator that shops can trust" in section(pack, "Goal")
        assert "calc.py must not import third-party packages." in section(pack, "Constraints")
        assert "repair" in section(pack, "Done before")
        assert "Add a test for negative numbers." in section(pack, "Open")
    assert "Use integer cents for amounts." in section(second, "Decisions")
    assert "extend" in section(third, "Done before")


@pytest.mark.requirement("DELIV-02", "PACK-03")
def test_a_decision_that_was_taken_back_is_gone(story: Story) -> None:
    decisions = section(story.packs[2], "Decisions")
    assert "Use decimal.Decimal for amounts instead of integer cents." in decisions
    assert "Use integer cents for amounts." not in decisions


@pytest.mark.requirement("PACK-12")
def test_every_line_of_a_pack_leads_to_bytes_of_the_trace(story: Story) -> None:
    for pack in story.packs[1:]:
        lines = [line for line in pack.splitlines() if line.startswith("- ")]
        assert lines
        for line in lines:
            assert _ID.findall(line), line
        for name in sorted(set(_ID.findall(pack))):
            for piece in story.ask("evidence", name):
                assert piece["proof"] in ("found", "masked"), (name, piece)
                assert piece["problems"] == []


@pytest.mark.requirement("DELIV-03", "CORE-05")
def test_a_line_is_expanded_within_bounds(story: Story) -> None:
    (name,) = _ID.findall(section(story.packs[2], "Constraints"))
    (whole,) = story.ask("mem", "get", name)
    assert whole["id"].startswith(name)
    assert whole["content"]["statement"] == "calc.py must not import third-party packages."
    assert 0 < whole["tokens"] <= 2000


def test_the_agents_own_search_was_answered(story: Story) -> None:
    results = [block["content"] for block in story.sent[2][1]["messages"][-1]["content"]]
    assert "Use decimal.Decimal for amounts instead of integer cents." in results[0]


@pytest.mark.requirement("SCOPE-03")
def test_each_task_has_its_outcome(story: Story) -> None:
    found = {each["task"]: each["content"]["status"] for each in story.ask("artifacts", "shop", "--type", "outcome")}
    assert found == {"repair": "success", "extend": "success", "cover": "success"}


def test_a_pack_is_no_source_of_artifacts(story: Story) -> None:
    """What is remembered is what people and agents said, not what they were told of it."""
    titles = [each["title"] for each in story.ask("artifacts", "shop")]
    assert not [title for title in titles if "blackbird-context" in title]
    assert sum(title == "calc.py must not import third-party packages." for title in titles) == 1


@pytest.mark.requirement("SEC-05")
def test_no_secret_is_on_the_disk_or_in_a_pack(story: Story) -> None:
    home: Path = story.cockpit.home.path
    assert not [path for path in home.rglob("*") if path.is_file() and PLANTED.encode() in path.read_bytes()]
    assert not [pack for pack in story.packs if PLANTED in pack]
