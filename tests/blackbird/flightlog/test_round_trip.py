"""What was exported and is imported again says the same: tokens, cost, client, sub-agents, each thing once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from blackbird.canon.model import Call, Message, Result
from blackbird.flightlog import files
from blackbird.imports.finding import glance
from blackbird.imports.recognise import LOOK, recognise
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from tests.blackbird.flightlog.test_conversion import SESSION, Claude, call, codex_log
from tests.blackbird.logbook import Logbook

FORMS = [("bbox",), ("rlog",), ("bbox", "rlog")]
CODEX = "01a1e1f5-2655-73a1-9ddc-7cf54fa15fdf"


def claude() -> Any:
    """A session whose agent reads, fails, and has a sub-agent look."""
    log = Claude()
    log.user("Mend the crane.")
    log.agent(1, {"type": "text", "text": "I look at the crane. " * 20}, call("Read", 1, file_path="crane.py"))
    log.result("toolu_1", "def lift(): pass\n" * 30)
    log.agent(2, call("Bash", 2, command="pytest -q"))
    log.result("toolu_2", "Exit code 1\nFAILED", toolUseResult="Error: Exit code 1\nFAILED")
    prompt = "Look for other cranes, and say where they are."
    log.agent(3, call("Task", 3, description="look", prompt=prompt, subagent_type="Explore"))
    log.result("toolu_3", "There are two.")
    log.agent(4, {"type": "text", "text": "Done."})
    log.agent(5, {"type": "text", "text": "Done."})
    sub = Claude()
    sub.user(prompt, isSidechain=True, agentId="a1")
    sub.agent(6, call("Glob", 4, pattern="**/crane*"))
    sub.result("toolu_4", "crane.py\ncrane2.py")
    sub.agent(7, {"type": "text", "text": "There are two."})
    inside = [
        {**line, "isSidechain": True, "agentId": "a1", "uuid": f"s-{at}", "timestamp": f"2026-11-16T10:00:07.{at}00Z"}
        for at, line in enumerate(sub.lines, 1)
    ]
    return [("claude-code", f"/p/{SESSION}.jsonl", log.lines), ("claude-code", "/p/agent-a1.jsonl", inside)]


def codex() -> Any:
    return [("codex", f"/p/rollout-2026-11-16-{CODEX}.jsonl", codex_log())]


def loaded(folder: Path, session: str | None, logs: Any) -> Timeline:
    book = Logbook()
    for name, path, lines in logs:
        book.log(name, path, session or "", lines)
    return gather.load(Trace(book.save(folder)))


def again(timeline: Timeline, forms: tuple[str, ...], folder: Path) -> Timeline:
    """Written in some forms, and taken in as an import would take it."""
    for form in forms:
        write = files.write_bbox if form == "bbox" else files.write_rlog
        write(timeline, folder / f"out.{form}")
    book = Logbook()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        data = path.read_bytes()
        about = recognise(str(path), data[:LOOK])
        assert about is not None
        found = glance(about, path, data)
        assert (found.session, found.client or timeline.about.client) == (
            timeline.about.session,
            timeline.about.client,
        )
        book.log(about.name, str(path), found.session or "", data.decode().splitlines())
    return gather.load(Trace(book.save(folder / "trace")))


def told(timeline: Timeline) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for item in timeline.items:
        match item:
            case Message():
                found["says", item.text] += 1
            case Call():
                found["calls", item.call_id] += 1
            case Result():
                found["gets", item.call_id] += 1
            case _:
                pass
    return found


@pytest.mark.parametrize("forms", FORMS)
@pytest.mark.parametrize("logs", [claude, codex])
def test_an_export_that_is_imported_says_the_same(forms: tuple[str, ...], logs: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    before = loaded(tmp_path / "trace", SESSION if logs is claude else CODEX, logs())
    assert before.spent.usd

    after = again(before, forms, tmp_path / "out")

    assert after.spent.usage == before.spent.usage
    assert (after.spent.usd, after.spent.reported) == (before.spent.usd, before.spent.reported)
    assert after.spent.generations == before.spent.generations
    assert after.about.client == before.about.client
    assert after.about.sha == before.about.sha
    assert told(after) == told(before)
    calls = [(thread.call_id, thread.parent) for thread in before.threads]
    assert [(thread.call_id, thread.parent) for thread in after.threads] == calls
