"""The text format, held against its own rules."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from blackbird.artifacts.note import Note, Spending
from blackbird.canon.model import Usage
from blackbird.home import Home
from blackbird.stats import collecting, prometheus
from blackbird.stats.figures import Figures, Holdings, Lag, figures
from blackbird.timeline.timeline import Spent
from blackbird.usage import Use

_SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*)\})? (-?[0-9.e+-]+)'
)
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')


def parsed(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """A strict reader: each metric has its HELP and TYPE once and first, its samples together, none of them twice."""
    assert text.endswith("\n")
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    lines = iter(text.splitlines())
    name = ""
    for line in lines:
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in found
            assert next(lines) == f"# TYPE {name} gauge"
            found[name] = {}
            continue
        match = _SAMPLE.fullmatch(line)
        assert match is not None, line
        assert match[1] == name
        labels = tuple(_LABEL.findall(match[2] or ""))
        assert labels not in found[name]
        found[name][labels] = float(match[3])
    assert all(found.values())
    return found


def some() -> Figures:
    spent = Spent(
        usage=Usage(input=10, cache_read=20, cache_write=5, output=3, reasoning=1),
        usd=Decimal("0.000123"),
        generations=2,
    )
    odd = Spent(usage=Usage(input=1), unknown=("own",), generations=1)
    shares = (
        Spending(task="t1", run="r1", model="big", spent=spent),
        Spending(model='odd "\\\nname', spent=odd),
    )
    uses = [
        Use(at=1, door="mcp", op="search", ms=12.5, tokens=300, run="r1"),
        Use(at=2, door="mcp", op="search", ms=20.0, tokens=310, run="r1"),
        Use(at=3, door="run", op="context", ms=150.25, tokens=800, sections={"decisions": 90}),
    ]
    held = Holdings(bytes=4096, sessions=1, artifacts={"decision": 2, "transcript": 5}, findings=1, builder="b")
    return figures(Lag(records=7, seconds=1.5), held, uses, [Note(session="s1", spent=shares)])


@pytest.mark.requirement("METRICS-04", "METRICS-05", "METRICS-07")
def test_all_figures_are_there() -> None:
    found = parsed(prometheus.render(some()))
    assert found.keys() == {f"blackbird_memory_{name}" for name in prometheus.HELP}
    assert found["blackbird_memory_lag_records"] == {(): 7.0}
    assert found["blackbird_memory_lag_seconds"] == {(): 1.5}
    search = (("op", "search"), ("door", "mcp"))
    times = found["blackbird_memory_answer_seconds"]
    assert (times[*search, ("quantile", "0.5")], times[*search, ("quantile", "0.95")]) == (0.0125, 0.02)
    assert found["blackbird_memory_answers_beyond"][search] == 1.0
    assert found["blackbird_memory_packs"] == {(("how", "built"),): 1.0, (("how", "cached"),): 0.0}
    assert found["blackbird_memory_pack_seconds"][("how", "built"), ("quantile", "0.5")] == 0.15025
    assert found["blackbird_memory_pack_section_tokens"] == {
        (("section", "decisions"), ("quantile", "0.5")): 90.0,
        (("section", "decisions"), ("quantile", "0.95")): 90.0,
    }
    odd = ("model", 'odd \\"\\\\\\nname')
    tokens = found["blackbird_memory_tokens"]
    assert tokens[("model", "big"), ("kind", "cache_read")] == 20.0
    assert tokens[odd, ("kind", "input")] == 1.0
    assert found["blackbird_memory_cost_usd"] == {(("model", "big"),): 0.000123}
    assert found["blackbird_memory_unpriced_requests"] == {(odd,): 1.0}


def test_a_home_without_anything_has_figures(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", tmp_path / "config.toml")
    found = parsed(collecting.prometheus(home))
    assert found["blackbird_memory_up"] == {(): 1.0}
    assert found["blackbird_memory_lag_records"] == {(): 0.0}
    assert not home.path.exists()


def test_a_memory_that_cannot_be_read_is_told_as_such(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", tmp_path / "config.toml")
    home.derived.mkdir(parents=True)
    (home.derived / "memory-00000001.db").write_bytes(b"no database" * 1000)
    (home.derived / "memory.db").symlink_to("memory-00000001.db")
    assert parsed(collecting.prometheus(home)) == {"blackbird_memory_up": {(): 0.0}}
