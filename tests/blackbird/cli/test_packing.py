"""`blackbird pack` and `mem context`: from what was recorded to what the next task is told."""

import re

import pytest

from blackbird.tokens import Plain
from blackbird.trace.records import Kind
from tests.blackbird.cli.command import Place, place
from tests.blackbird.flights import Flight
from tests.blackbird.flights import Trace as Clock
from tests.blackbird.logbook import Logbook

ID = re.compile(r"art_[a-z2-7]{8}")


@pytest.fixture
def here(tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)  # type: ignore[arg-type]


class Story:
    """A session that is told task by task."""

    def __init__(self, here: Place) -> None:
        self.book, self.clock, self._here = Logbook(), Clock(), here
        self.book.state("goal", "harbour", text="Load ships faster")

    def task(self, number: int, task: str, words: str, command: str, printed: str, *, failed: bool = False) -> None:
        run = f"run_{number}"
        ids = {"session": "harbour", "task": task, "run": run}
        payload = {"event": "run.start", **ids, "data": {"description": words}}
        self.book.tracer.add(Kind.HARNESS_EVENT, payload=payload)
        flight = Flight("messages", session="harbour", run=run, trace=self.clock)
        call = ("run_command", {"command": command})
        self.book.exchange(flight.turn(words, calls=[call]), task=task)
        said = "It is done. Still to do: write down the tides." if not failed else "It did not work."
        self.book.exchange(flight.turn(results=[printed], failed=failed, says=said), task=task)
        self.book.save(self._here.home.trace)


@pytest.fixture
def story(here: Place) -> Story:
    found = Story(here)
    words = "Let's use SQLite for the index. Never delete a segment. Add the crane."
    found.task(1, "crane", words, "pytest -q", "3 passed in 0.1s\n")
    return found


def section(text: str, title: str) -> list[str]:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |^</)", text, re.MULTILINE | re.DOTALL)
    return found[1].splitlines() if found else []


@pytest.mark.requirement("MEMCLI-03", "PACK-01", "PACK-03", "PACK-04", "PACK-08")
@pytest.mark.usefixtures("story")
def test_the_next_task_is_told_what_the_first_one_left(here: Place) -> None:
    told = here.run("mem", "context", "--task", "dock", "--session", "harbour", "--budget", "800")
    assert (told.code, told.err) == (0, "")
    assert Plain().count(told.out) <= 800
    text = told.out
    assert [ID.sub("ID", line) for line in section(text, "Goal")] == ["- Load ships faster [ID]"]
    assert [ID.sub("ID", line) for line in section(text, "Decisions")] == ["- Let's use SQLite for the index. [ID]"]
    assert [ID.sub("ID", line) for line in section(text, "Constraints")] == ["- Never delete a segment. [ID]"]
    assert ID.sub("ID", section(text, "Done before")[0]).startswith("- crane: success: Let's use SQLite")
    assert ID.sub("ID", section(text, "Files and commands")[0]) == "- pytest -q [ID]"


@pytest.mark.requirement("PACK-12")
@pytest.mark.usefixtures("story")
def test_every_line_has_an_id_whose_evidence_resolves(here: Place) -> None:
    text = here.run("pack", "--session", "harbour").out
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) >= 5
    for line in lines:
        ids = ID.findall(line)
        assert ids, line
        for identifier in ids:
            told = here.run("mem", "get", identifier, "--json").json
            assert told["id"].startswith(identifier)
            assert {place["proof"] for place in told["provenance"]} == {"found"}


@pytest.mark.requirement("PACK-03", "PACK-07")
def test_what_was_reversed_is_gone_and_what_failed_is_warned_of(here: Place, story: Story) -> None:
    before = here.run("pack", "--session", "harbour").out
    story.task(2, "dock", "Use Postgres for the index instead of SQLite.", "make dock", "No rule\n", failed=True)
    after = here.run("pack", "--session", "harbour", "--task", "tide").out
    assert "SQLite for the index" in section(before, "Decisions")[0]
    assert ["Postgres" in line for line in section(after, "Decisions")] == [True]
    assert [line.partition(" [art_")[0] for line in section(after, "Do not redo")] == ["- error met: No rule"]
    # What decided that the task failed stands with the task, and is not told twice.
    assert section(after, "Done before")[0].startswith("- dock: fail: ")
    assert "  - `make dock`: failed" in after.splitlines()
    explained = here.run("pack", "--session", "harbour", "--task", "tide", "--explain").out
    assert re.search(r"decisions  Let's use SQLite for the index\.\n +superseded by art_", explained)


@pytest.mark.requirement("PACK-11")
@pytest.mark.usefixtures("story")
def test_a_rebuilt_memory_gives_the_same_bytes(here: Place) -> None:
    before = here.run("pack", "--session", "harbour", "--json").out
    here.run("derive", "--rebuild")
    for kept in (here.home.derived / "packs").iterdir():
        kept.unlink()
    assert here.run("pack", "--session", "harbour", "--json").out == before


@pytest.mark.requirement("PACK-14")
@pytest.mark.usefixtures("story")
def test_both_commands_are_one_and_keep_what_they_made(here: Place) -> None:
    first = here.run("pack", "--session", "harbour", "--budget", "500").out
    assert len(list((here.home.derived / "packs").iterdir())) == 1
    assert here.run("mem", "context", "--session", "harbour", "--budget", "500").out == first
    assert len(list((here.home.derived / "packs").iterdir())) == 1


@pytest.mark.usefixtures("story")
def test_a_task_alone_means_its_session(here: Place) -> None:
    told = here.run("mem", "context", "--task", "crane", "--json").json
    assert (told["schema"], told["session"], told["task"]) == ("pack/1", "harbour", "crane")


@pytest.mark.usefixtures("story")
def test_it_says_why(here: Place) -> None:
    lines = here.run("pack", "--session", "harbour", "--explain").out.splitlines()
    assert re.fullmatch(r"\d+ of 1500 tokens, counted by plain/2, for session harbour", lines[0])
    assert re.fullmatch(r"\d+ of them for the tag and what the agent is told about the pack", lines[1])
    assert any(re.fullmatch(r"Decisions  \d+ tokens; \d+ were given to it, 200 is its most", line) for line in lines)
    assert any(re.fullmatch(r" +it holds; the user said it; art_\w{16}", line) for line in lines)


@pytest.mark.usefixtures("story")
def test_where_nothing_is_known_it_says_so(here: Place) -> None:
    told = here.run("pack")
    assert (told.code, told.out) == (1, "")
    assert told.err == (
        "! Nothing is known that this task should be told: no session of its project left anything yet. "
        "blackbird sessions lists all that there are\n"
    )


@pytest.mark.usefixtures("story")
def test_a_session_that_nothing_is_known_of_is_named(here: Place) -> None:
    told = here.run("pack", "--session", "harbor")
    assert told.err.splitlines()[0] == "! Nothing is known of a session harbor: this is what its project left"
    assert here.run("pack", "--session", "harbour").err == ""


@pytest.mark.usefixtures("story")
def test_a_budget_that_is_none_is_refused(here: Place) -> None:
    told = here.run("pack", "--budget", "20")
    assert told.code == 2
    assert "Input should be greater than or equal to 100" in told.err
