"""`blackbird stats`: figures for people, programs and Prometheus."""

from pathlib import Path

import pytest

from blackbird import usage
from blackbird.usage import Use
from tests.blackbird.cli.command import Place, place
from tests.blackbird.flights import Flight
from tests.blackbird.logbook import Logbook

NOON = 1_794_830_400_000_000_000
COUNTED = {
    "input_tokens": 1000,
    "output_tokens": 10,
    "cache_read_input_tokens": 500,
    "cache_creation_input_tokens": 0,
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    return place(tmp_path, monkeypatch, capsys)


def fill(here: Place) -> None:
    book, flight = Logbook(), Flight("messages", model="claude-opus-4-5")
    book.exchange(flight.turn("Mend it.", says="Done.", usage=COUNTED), task="t1")
    other = Flight("chat", session="s2", run="run_2", trace=flight.trace)
    book.exchange(other.turn("Look.", says="I see.", usage={"prompt_tokens": 7, "completion_tokens": 3}))
    book.save(here.home.trace)
    here.run("derive")
    for ms in (4.0, 6.0, 8.0):
        usage.note(here.home, Use(at=NOON, door="mcp", op="search", ms=ms, tokens=420, run="run_1", session="s1"))
    usage.note(here.home, Use(at=NOON, door="run", op="context", ms=90.0, tokens=700, sections={"decisions": 60}))
    usage.note(
        here.home, Use(at=NOON, door="run", op="context", ms=1.0, tokens=700, cached=True, sections={"decisions": 60})
    )


@pytest.mark.requirement("METRICS-04", "METRICS-05", "METRICS-07")
def test_for_people(here: Place) -> None:
    fill(here)
    done = here.run("stats")
    assert done.code == 0
    size = done.out.splitlines()[1].rpartition(" takes ")[2]
    assert (
        done.out
        == f"""\
✓ The memory has all that is in the trace
  8 artifacts of 2 sessions; the memory takes {size}
  artifacts   count
  outcome         2
  summary         2
  transcript      4

Answers since 2026-11-16T12:00:00.000000Z
  asked    door  count  p50 ms  p95 ms  p50 tokens  p95 tokens  beyond the contract
  context  run       2     1.0    90.0         700         700                    -
  search   mcp       3     6.0     8.0         420         420                    2

Packs, 50% of them from the cache
  packs   count  p50 ms  p95 ms
  built       1    90.0    90.0
  cached      1     1.0     1.0
  section    packs  p50 tokens  p95 tokens
  decisions      2          60          60

Spent by model
  model            requests  input  cache read  cache write  output     cost
  claude-opus-4-5         1  1,000         500            0      10  $0.0055
  scripted-1              1      7           0            0       3  unknown

Spent by session
  session  requests  input  cache read  cache write  output     cost
  s2              1      7           0            0       3  unknown
  s1              1  1,000         500            0      10  $0.0055

Spent by task
  session  task  requests  input  cache read  cache write  output     cost
  s1       t1           1  1,000         500            0      10  $0.0055
"""
    )


def test_where_there_is_nothing_that_is_said(here: Place) -> None:
    done = here.run("stats")
    assert done.out == (
        "✓ The memory has all that is in the trace\n"
        "  0 artifacts of 0 sessions; the memory takes 0 B\n"
        "\n"
        "Nothing was asked of the memory yet.\n"
    )


@pytest.mark.requirement("METRICS-04")
def test_what_the_memory_does_not_have_yet_comes_first(here: Place) -> None:
    book = Logbook()
    book.exchange(Flight("messages").turn("Mend it.", says="Done."))
    book.save(here.home.trace)
    assert here.run("stats").out.startswith("! The memory is 5 records behind, the oldest ")


@pytest.mark.requirement("METRICS-04", "METRICS-05", "METRICS-07")
def test_for_programs(here: Place) -> None:
    fill(here)
    told = here.run("stats", "--json", "--session", "run_1").json
    assert (told["schema"], told["session"], told["lag"]) == ("stats/1", "s1", {"records": 0, "seconds": 0.0})
    assert told["answers"] == [
        {
            "op": "search",
            "door": "mcp",
            "took": {"count": 3, "p50_ms": 6.0, "p95_ms": 8.0},
            "tokens_p50": 420,
            "tokens_p95": 420,
            "beyond": 2,
        }
    ]
    assert told["by_task"] == [
        {
            "session": "s1",
            "task": "t1",
            "input": 1000,
            "cache_read": 500,
            "cache_write": 0,
            "cache_write_1h": 0,
            "output": 10,
            "reasoning": 0,
            "usd": "0.00550",
            "reported": None,
            "unknown": [],
            "generations": 1,
            "prices": told["by_task"][0]["prices"],
        }
    ]
    assert here.run("stats", "--json").json["packs"]["hits"] == 0.5


@pytest.mark.requirement("METRICS-04", "METRICS-05", "METRICS-07")
def test_for_prometheus(here: Place) -> None:
    fill(here)
    lines = here.run("stats", "--prometheus").out.splitlines()
    assert "blackbird_memory_lag_records 0" in lines
    assert 'blackbird_memory_answer_seconds{op="search",door="mcp",quantile="0.95"} 0.008' in lines
    assert 'blackbird_memory_tokens{model="claude-opus-4-5",kind="cache_read"} 500' in lines
    done = here.run("stats", "--prometheus", "--session", "s1")
    assert (done.code, done.out) == (2, "")


def test_a_session_that_is_none(here: Place) -> None:
    assert here.run("stats", "--session", "nobody").code == 1
    fill(here)
    assert here.run("stats", "--session", "nobody").code == 1
