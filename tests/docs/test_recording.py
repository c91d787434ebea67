"""What the pages on the recorder say is so: its JSON, its metrics, its operations, its settings."""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from blackbird import home as homes
from blackbird import usage
from blackbird.config import settings
from blackbird.stats.prometheus import HELP, PREFIX
from blackbird.trace.verify.findings import Code
from blackbird.usage import Use
from tests.docs.test_generated import Documented

ROOT = Path(__file__).resolve().parents[2]
RECORDING = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
SOURCES = ROOT / "crates" / "recorder" / "src"


@pytest.fixture(scope="module")
def generate() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("generate")


@pytest.fixture(scope="module")
def documented() -> Documented:
    return Documented()


def marked(name: str) -> str:
    """What stands between two marks of the page."""
    return RECORDING.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0]


@pytest.mark.parametrize(
    ("line", "code", "schema"),
    [
        ("blackbird requests --json", 0, "request/1"),
        ("blackbird tail --no-follow --requests --json", 0, "request/1"),
        ("blackbird tail --no-follow --json", 0, "item/1"),
        ("blackbird show harbour --json", 0, "item/1"),
        ("blackbird export harbour --json", 0, "export/1"),
        ("blackbird audit harbour --json", 0, "audit/1"),
        ("blackbird sessions --json", 0, "session-summary/1"),
        ("blackbird session show --json", 0, "session/1"),
        ("blackbird session show unattributed --json", 0, "session/1"),
        ("blackbird show 01M7J6HMG4 --json", 0, "exchange/1"),
        ("blackbird show 01M7J6HMNE --json", 0, "exchange/1"),
        ("blackbird show 01M7J6HP81 --json --headers --request", 0, "exchange/1"),
        ("blackbird trace verify --json", 0, "trace-verify/1"),
        ("blackbird trace status --json", 0, "trace-status/1"),
        ("blackbird trace export --output -", 0, "trace-record/1"),
        ("blackbird status --json", 1, "status/1"),
        ("blackbird config show --json", 0, "config/1"),
        ("blackbird config path --json", 0, "config-path/1"),
        ("blackbird down --json", 0, "down/1"),
    ],
)
def test_what_is_read_without_a_recorder_is_as_documented(
    generate: ModuleType, documented: Documented, line: str, code: int, schema: str
) -> None:
    with generate.scratch("", trace=True):
        printed = [json.loads(text) for text in generate.run(line, code).splitlines()]
    assert printed
    for value in printed:
        assert value["schema"] == schema
        assert documented.faults(value, schema, schema) == []


def test_figures_of_the_memory_are_as_documented(generate: ModuleType, documented: Documented) -> None:
    with generate.scratch("", trace=True):
        generate.run("blackbird derive")
        home = homes.find()
        for is_cached in (True, False):
            use = Use(
                at=1, door="run", op="context", ms=1.5, cached=is_cached, sections={"decisions": 10}, run="run_1"
            )
            usage.note(home, use)
        told = json.loads(generate.run("blackbird stats --json"))
    assert told["by_session"]
    assert documented.faults(told, "stats/1", "stats") == []


def test_every_metric_of_the_memory_is_on_its_page() -> None:
    page = (ROOT / "docs" / "cli" / "_parts" / "blackbird" / "stats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(blackbird_memory_\w+)`", page)) == {PREFIX + name for name in HELP}


def test_damage_of_a_trace_is_as_documented(generate: ModuleType, documented: Documented) -> None:
    with generate.scratch("", trace=True):
        segment = Path("trace/00000003.wal")
        segment.write_bytes(segment.read_bytes()[:-10])
        told = json.loads(generate.run("blackbird trace verify --json", 4))
    assert {finding["code"] for finding in told["findings"]} >= {"torn-tail", "missing-tail"}
    assert documented.faults(told, "trace-verify/1", "verify") == []


def test_a_recorder_says_what_is_documented(generate: ModuleType, documented: Documented) -> None:
    lines = [
        ("blackbird up --port 0 --json", "up/1"),
        ("blackbird status --json", "status/1"),
        ("blackbird env --session harbour --shell json", "env/1"),
        ("blackbird session new quay --goal lamps --json", "session-opened/1"),
        ("blackbird session goal --json", "session-goal/1"),
        ("blackbird task import plan.md --json", "task-import/1"),
        ("blackbird task done lamps --json", "task/1"),
        ("blackbird trace pin --session harbour --json", "trace-pin/1"),
        ("blackbird trace unpin --session harbour --json", "trace-unpin/1"),
        ("blackbird trace seal --json", "trace-seal/1"),
        ("blackbird trace pin --run run_1 --json", "trace-pin/1"),
        ('blackbird trace clean --max-size "1 KiB" --json', "trace-clean/1"),
        ("blackbird down --json", "down/1"),
    ]
    printed = {}
    with generate.scratch("", trace=True):
        Path("plan.md").write_text("- lamps\n", encoding="utf-8")
        for line, schema in lines:
            value = printed[schema] = json.loads(generate.run(line))
            assert value["schema"] == schema
            assert documented.faults(value, schema, schema) == []
    assert printed["status/1"].keys() == documented.shapes["status/1"].keys()
    assert printed["trace-seal/1"]["sealed"]
    assert printed["trace-clean/1"]["removed"]
    assert printed["down/1"]["stopped"]


def test_every_finding_of_verify_is_on_its_page() -> None:
    page = (ROOT / "docs" / "cli" / "blackbird" / "trace.md").read_text(encoding="utf-8")
    assert [code.value for code in Code if f"`{code.value}`" not in page] == []


@pytest.mark.requirement("CMD-09")
def test_every_setting_is_on_the_page() -> None:
    upstreams = [settings.upstream_setting(name) for name in settings.built_in_upstreams()]
    known = [*settings.known().values(), *upstreams]
    assert [each.name for each in known if f"| `{each.name}` |" not in SETTINGS] == []
    rows = re.findall(r"^\| `(\w+\.[\w-]+)` \|.+\*\(planned: \w+\)\* \|$", SETTINGS, re.MULTILINE)
    assert rows == [each.name for each in known if each.is_planned]


def test_the_metrics_it_lists_are_those_there_are() -> None:
    source = (SOURCES / "metrics.rs").read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
    headings = set(re.findall(r'heading\(\s*out,\s*"(\w+)"', source))
    headings |= set(re.findall(r'\(\s*"(\w+)",\s*"(?:counter|gauge|summary)"', source))
    assert set(re.findall(r"`blackbird_(\w+)`", marked("metrics"))) == headings


def test_the_operations_it_lists_are_those_there_are() -> None:
    source = (SOURCES / "serving" / "control.rs").read_text(encoding="utf-8")
    performed = source.partition("fn perform")[2].partition("fn status")[0]
    cells = re.findall(r"^\| (`.+?) \|", marked("operations"), re.MULTILINE)
    listed = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert listed - {"op"} == set(re.findall(r'Some\("(\w+)"\) =>', performed))
