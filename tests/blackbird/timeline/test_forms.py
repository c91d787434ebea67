"""A session that was taken in as several forms of the same log: each thing stands once."""

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from blackbird.canon.model import Call, Item, Mark, Message, Result
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace
from tests.blackbird.logbook import Logbook

SESSION = "74ca0000-0000-4000-8000-000000000001"
LONG = (
    "The lamp at the end of the pier is dark, and the keeper asks for it to be mended before the fog comes in. " * 3
)
CUT = LONG[:200] + "..."
RLOG = f"""---
format: rlog/1
id: {SESSION}
repo_sha: 55d2215
branch: main
model: claude-sonnet-4-5-20250929
agent: pilot
version: 0.1.0
---

@start id=74ca0000 ts=2025-12-23T19:18:28Z
a: {CUT} tokens_in=2 tokens_out=3 tokens_cached=15479
t!:Bash id=fDBk8QkG cmd="cargo run --bin lamps -- is..." → [running] tokens_in=2 tokens_out=101 tokens_cached=15479
o: id=fDBk8QkG → [error] Exit code 2
a: Done. tokens_in=6 tokens_out=5 tokens_cached=26942
"""
TAIL = """t!:Read id=Qz5KFnng file_path=lamp.py → [running] tokens_in=6 tokens_out=9 tokens_cached=26942
o: id=Qz5KFnng → [ok] lamp = None
a: Done. tokens_in=7 tokens_out=8 tokens_cached=30000
"""


def spoken(second: int, block: dict[str, Any], message: str, read: int, cached: int, written: int) -> dict[str, Any]:
    usage = {"input_tokens": read, "cache_read_input_tokens": cached, "output_tokens": written}
    model = "claude-sonnet-4-5-20250929"
    said = {"model": model, "id": message, "role": "assistant", "content": [block], "usage": usage}
    return {"type": "assistant", "message": said, "timestamp": f"2025-12-23T19:19:{second:02}Z"}


def answered(second: int, call: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": True}
    message = {"role": "user", "content": [block]}
    return {"type": "user", "message": message, "timestamp": f"2025-12-23T19:19:{second:02}Z"}


def use(call: str, name: str, **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


COMPANION = [
    {"type": "system", "message": {"subtype": "init", "session_id": SESSION, "claude_code_version": "2.0.76"}},
    spoken(1, {"type": "text", "text": LONG}, "msg_1", 2, 15479, 3),
    spoken(2, use("toolu_01PbfDBk8QkG", "Bash", command="cargo run --bin lamps"), "msg_1", 2, 15479, 101),
    answered(3, "toolu_01PbfDBk8QkG", "Exit code 2\n   Compiling lamps"),
    spoken(4, {"type": "text", "text": "Done."}, "msg_2", 6, 26942, 5),
]


def taken(tmp_path: Path, *forms: tuple[str, str, Iterable[Any]]) -> Timeline:
    """The session out of logs that were imported in this order."""
    book = Logbook()
    for name, path, lines in forms:
        book.log(name, path, SESSION, list(lines))
    return gather.load(Trace(book.save(tmp_path / "trace")), SESSION)


def told(timeline: Timeline) -> list[tuple[str, str]]:
    return [spelled for item in timeline.items if (spelled := _spelled(item)) is not None]


def _spelled(item: Item) -> tuple[str, str] | None:
    match item:
        case Message():
            return "says", item.text
        case Call():
            return "calls", item.call_id
        case Result():
            return "gets", item.call_id
        case _:
            return None


WHOLE = [
    ("says", LONG),
    ("calls", "toolu_01PbfDBk8QkG"),
    ("gets", "toolu_01PbfDBk8QkG"),
    ("says", "Done."),
]


def rlog(text: str) -> tuple[str, str, Iterable[Any]]:
    return "bbox", "/logs/pier.rlog", text.splitlines()


def companion(lines: Iterable[Any] = COMPANION) -> tuple[str, str, Iterable[Any]]:
    return "companion", "/logs/pier.jsonl", [json.dumps(line) for line in lines]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_log_that_was_cut_short_and_its_companion_are_one(order: tuple[int, ...], tmp_path: Path) -> None:
    forms = [rlog(RLOG), companion()]
    timeline = taken(tmp_path, *(forms[at] for at in order))

    assert told(timeline) == WHOLE
    assert (timeline.spent.usage.prompt, timeline.spent.usage.output) == (2 + 15479 + 6 + 26942, 106)
    assert timeline.spent.generations == 2
    about = timeline.about
    assert (about.client, about.client_version, about.branch, about.sha) == ("pilot", "0.1.0", "main", "55d2215")
    assert [thread.id for thread in timeline.threads] == ["main"]
    assert [item for item in timeline.items if isinstance(item, Mark)] == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_only_the_cut_log_has_stands_behind_what_both_have(order: tuple[int, ...], tmp_path: Path) -> None:
    forms = [rlog(RLOG + TAIL), companion()]
    timeline = taken(tmp_path, *(forms[at] for at in order))

    assert told(timeline) == [*WHOLE, ("calls", "Qz5KFnng"), ("gets", "Qz5KFnng"), ("says", "Done.")]
    # The companion has counted the message that the call is of; the last one is only in the log.
    assert timeline.spent.usage.output == 106 + 8
    assert timeline.spent.generations == 3


def test_a_call_that_the_companion_lost_stands_where_it_was(tmp_path: Path) -> None:
    lost = [line for line in COMPANION if 'tool_use"' not in json.dumps(line)]
    timeline = taken(tmp_path, companion(lost), rlog(RLOG))

    assert told(timeline) == [
        ("says", LONG),
        ("calls", "toolu_01PbfDBk8QkG"),
        ("gets", "toolu_01PbfDBk8QkG"),
        ("says", "Done."),
    ]


def test_a_result_that_the_companion_lost_is_joined_to_its_call(tmp_path: Path) -> None:
    lost = [line for line in COMPANION if line["type"] != "user"]
    timeline = taken(tmp_path, companion(lost), rlog(RLOG))

    assert told(timeline) == WHOLE


def test_a_log_without_a_companion_stands_for_itself(tmp_path: Path) -> None:
    timeline = taken(tmp_path, rlog(RLOG))

    assert told(timeline) == [("says", CUT), ("calls", "fDBk8QkG"), ("gets", "fDBk8QkG"), ("says", "Done.")]
    # Only its start is dated: all else stands behind that, and nobody knows when it happened.
    start, *others = timeline.items
    assert isinstance(start, Mark)
    assert start.at is not None
    assert {(item.at, item.near) for item in others} == {(None, start.at)}
    assert timeline.spent.usage.output == 106


BBOX = f"""---
format: bbox/1
id: {SESSION}
agent: pilot
model: claude-sonnet-4-5-20250929
extra.prices: prices 1
---
a: {LONG.strip()} id=it_1 step=1 ts=2025-12-23T19:19:01Z
t:Bash id=toolu_01PbfDBk8QkG command="cargo run --bin lamps" step=1 ts=2025-12-23T19:19:02Z → [error] Exit code 2
# metrics step=1 prompt_tokens=15481 completion_tokens=101 cached_tokens=15479 cost_usd=0.01
a: Done. id=it_2 step=2 ts=2025-12-23T19:19:04Z
# metrics step=2 prompt_tokens=26948 completion_tokens=5 cached_tokens=26942 cost_usd=0.01
"""


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_three_forms_are_one_in_any_order(order: tuple[int, ...], tmp_path: Path) -> None:
    forms = [rlog(RLOG), companion(), ("bbox", "/logs/pier.bbox", BBOX.splitlines())]
    timeline = taken(tmp_path, *(forms[at] for at in order))

    assert told(timeline) == WHOLE
    assert (timeline.spent.usage.prompt, timeline.spent.usage.output) == (2 + 15479 + 6 + 26942, 106)
