"""The ground the project stands on: its targets, its distribution, its workflows, its published figures."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
MAKE = shutil.which("make") or "make"


def recipe_of(target: str) -> str:
    """What `make` would run for a target, without running it."""
    done = subprocess.run([MAKE, "-n", target], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.requirement("GROUND-01")
def test_set_up_is_done_once() -> None:
    done = subprocess.run([MAKE, "-q", "setup"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, "`make setup` has something to do although this very environment is set up"


@pytest.mark.requirement("GROUND-01")
@pytest.mark.parametrize("target", ["run", "test", "bench", "fuzz"])
def test_every_target_sets_up_what_it_needs(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    needs = re.search(rf"^{target}: (.*?)(?: ##|$)", makefile, re.MULTILINE)
    assert needs is not None
    assert all(name == "$(STAMP)" or f"\n{name}: $(STAMP)" in makefile for name in needs[1].split())


@pytest.mark.requirement("GROUND-03")
@pytest.mark.parametrize(
    "tool",
    [
        "ruff format --check",
        "ruff check",
        "mypy",
        "lint-imports",
        "deptry",
        "cargo fmt",
        "cargo clippy",
        "cargo test",
        "pytest",
    ],
)
def test_make_test_runs_every_check(tool: str) -> None:
    assert tool in recipe_of("test")


@pytest.mark.requirement("GROUND-04")
def test_one_distribution_brings_both_packages_and_all_programs() -> None:
    scripts = {entry.name: entry.value for entry in importlib.metadata.distribution("blackbird").entry_points}
    assert scripts == {"blackbox": "blackbox.cli.app:main", "blackbird": "blackbird.cli.app:main"}
    programs = [Path(sys.executable).with_name(name) for name in (*scripts, "blackbird-recorder")]
    for program in programs:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(program.name)


@pytest.mark.requirement("GROUND-08")
def test_ci_calls_the_target_that_people_call() -> None:
    assert re.search(r"^if make test; then$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    checks = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text())
    steps = [step.get("run", "") for job in checks["jobs"].values() for step in job["steps"]]
    assert "bash .ci/run" in steps


@pytest.mark.requirement("GROUND-10")
def test_wheels_are_built_for_every_platform() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())
    platforms = {
        entry["platform"]
        for job in workflow["jobs"].values()
        for entry in job.get("strategy", {}).get("matrix", {}).get("include", [])
    }
    assert platforms >= {"linux-x86_64", "linux-aarch64", "macos-arm64", "macos-x86_64", "windows-amd64"}


def published_figures(subject: str = "log") -> str:
    """The tables that `bench/run.py --readme` wrote."""
    readme = (ROOT / "README.md").read_text()
    return readme.partition(f"<!-- bench:{subject} -->")[2].partition("<!-- /bench -->")[0]


def figure(row: str, column: int) -> float:
    match = re.search(rf"^\| {re.escape(row)}.*$", published_figures(), re.MULTILINE)
    assert match is not None, f"no row `{row}` in the README: run `make bench ARGS=--readme`"
    cells = [cell.strip() for cell in match[0].strip("|").split("|")]
    return float(cells[column].split()[0])


def ratios(subject: str, row: str) -> list[float]:
    """All figures of the first row of that name that a benchmark published, in order."""
    match = re.search(rf"^\| {re.escape(row)} \|(.*)$", published_figures(subject), re.MULTILINE)
    assert match is not None, f"no row `{row}` in the README: run `make bench ARGS='{subject} --readme'`"
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", match[1])]


@pytest.mark.requirement("PROXY-06")
def test_published_latency_stays_within_its_bounds() -> None:
    _rate, _least, _most, _cpu, _p50, _p99, p50_ratio, p99_ratio, *_ = ratios("recorder", "blackbird")
    assert p50_ratio <= 1.5
    assert p99_ratio <= 3.0


@pytest.mark.requirement("PROXY-19")
def test_published_throughput_and_memory_stay_within_their_bounds() -> None:
    requests, *_, events, _least, _most, cpu, resident = ratios("recorder", "blackbird")
    assert requests >= 0.6
    assert events >= 0.7
    assert cpu <= 1.6
    assert resident < 80
    for peer in ("claude-tap", "mitmproxy"):
        _, *_, peer_events, _, _, _, _ = ratios("recorder", peer)
        assert events >= 4 * peer_events


def test_published_start_of_an_agent_is_sooner_than_a_peers() -> None:
    def added(way: str) -> float:
        row = re.search(
            rf"^\| until the first instruction \| {re.escape(way)} \|.*\| \+(\d+) \|$", tables, re.MULTILINE
        )
        assert row is not None, f"no row `{way}` in the README: run `make bench ARGS='launch --readme'`"
        return float(row[1])

    tables = published_figures("launch")
    assert max(added("run"), added("run --forward")) < 300
    assert max(added("run"), added("run --forward")) < added("claude-tap")


@pytest.mark.requirement("TRACE-09")
def test_published_size_of_seals_and_time_to_read_one_request() -> None:
    assert ratios("seal", "requests")[-1] >= 150
    assert ratios("seal", "streams, with heads, times and index")[-1] >= 15
    read = re.search(r"in (\d+) ms \((\d+)–(\d+)\)", published_figures("seal"))
    assert read is not None
    assert int(read[3]) < 50


def test_published_streams_and_histories_reach_their_floors() -> None:
    """As ratios to `json.loads` on the same bytes in the same round: how many MB/s that is, the machine decides."""
    tables = published_figures("canon")
    streams = re.findall(r"^\| [\w ]+ \| blackbird \| [\d.]+ \| \S+ \| ([\d.]+) ", tables, re.MULTILINE)
    assert len(streams) == 5
    assert min(map(float, streams)) >= 0.3
    rows = re.findall(
        r"^\| ([\d,]+) \| .*? MB \| .*? MB \| \d+ \| \S+ \| ([\d.]+) \| .*\| ([\d.]+) \| (\d+) MB \|$",
        tables,
        re.MULTILINE,
    )
    assert [int(row[0].replace(",", "")) for row in rows] == [2500, 5000, 10_000]
    assert min(float(row[1]) for row in rows) >= 0.4
    first, *_, last = (float(row[2]) for row in rows)
    assert last <= 1.25 * first


def test_published_write_path_and_its_lag_reach_their_floors() -> None:
    """As ratios to `json.loads` too, which a slower machine does not change; the lag is that of a busy one."""
    _size, _artifacts, streams, *_, streams_ratio, _least, _most = ratios("derive", "streams")
    assert streams >= 10
    assert streams_ratio >= 0.2
    _size, _artifacts, resent, *_, resent_ratio, _least, _most = ratios(
        "derive", "requests that re-send their history"
    )
    assert resent >= 60
    assert resent_ratio >= 0.12
    lag = re.search(r"p95 (\d+) ms", published_figures("derive"))
    assert lag is not None
    assert int(lag[1]) < 1000


def test_published_import_of_a_log_stays_within_its_bounds() -> None:
    seconds, _least, _most, peak, *_ = ratios("imports", "blackbird import")
    assert seconds < 10
    assert peak < 150
    assert ratios("imports", "blackbird import, again")[0] < seconds


@pytest.mark.requirement("PROOF-05")
def test_published_memory_is_within_the_bound() -> None:
    assert figure("one 100 MB log", 1) >= 100
    assert figure("one 100 MB log", 4) < 150


@pytest.mark.requirement("PROOF-06")
def test_published_speed_of_validate_reaches_the_floor() -> None:
    assert figure("blackbox validate", 1) >= 10


@pytest.mark.requirement("PROOF-07")
def test_published_speed_of_the_scan_reaches_the_floor() -> None:
    assert figure("blackbox line scan", 1) >= 50


@pytest.mark.requirement("PROOF-09")
def test_published_figures_stand_beside_json_parsers_and_name_the_limit() -> None:
    assert figure("json.loads, same session as JSONL", 3) == 1.0
    assert figure("msgspec.json.decode, same JSONL", 3) > 0
    assert "What limits it" in published_figures()


@pytest.mark.requirement("COMPACT-04")
def test_published_sizes_compare_every_form_and_stand_beside_the_claims() -> None:
    tables = published_figures("size")
    forms = re.findall(
        r"^\| examples/12h-autopilot-session\.bbox \| (.+?) \| [\d,]+ \| \d+% \| [\d,]+ ", tables, re.MULTILINE
    )
    assert forms == ["verbose JSON lines", "bbox", "compact", "JSON lines, short keys"]
    assert "claimed were about 50% of the bytes and 33% of the tokens" in tables


@pytest.mark.requirement("REDACT-05", "REDACT-06")
def test_published_redaction_stands_beside_a_peer_and_reaches_the_floor() -> None:
    tables = published_figures("redaction")
    assert re.search(r"^\| blackbox \| 0 of \d{3} \| 0 of \d{3} \|$", tables, re.MULTILINE)
    assert re.search(r"^\| detect-secrets \| \d+ of \d{3} \| \d+ of \d{3} \|$", tables, re.MULTILINE)
    speeds = re.findall(r"^\| (?:a made-up log|real logs)[^|]* \| blackbox \| ([\d.]+) ", tables, re.MULTILINE)
    assert len(speeds) == 2
    assert min(map(float, speeds)) >= 20


def test_versions_of_tools_are_pinned_by_name_alone() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin)] == []


def test_the_rust_workspace_and_the_distribution_have_one_version() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert importlib.metadata.version("blackbird") == cargo["workspace"]["package"]["version"]
