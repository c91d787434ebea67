"""The README's log is a valid one, and its library examples print what it shows."""

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

import blackbox
from blackbox.check.rules import all_rules
from blackbox.syntax.kinds import PREFIXES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

_LOG = re.compile(r"^```bbox [\w.]+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_log_it_shows_has_no_fault() -> None:
    (log,) = _LOG.findall(README)
    findings = blackbox.validate(blackbox.parse(log))
    assert [finding for finding in findings if finding.severity != "info"] == []


def test_its_library_examples_print_what_it_shows(tmp_path: Path) -> None:
    """One after the other, in one namespace, as a reader would paste them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    examples = _EXAMPLE.findall(README)
    assert len(examples) == README.count("```python\n") >= 3
    names: dict[str, object] = {}
    with contextlib.chdir(tmp_path):
        for code, expected in examples:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - the code is our own page's
            # How long a session took is the one thing that may differ.
            got = re.sub(r"duration=\S+", "duration=0s", printed.getvalue())
            assert got.rstrip("\n") == expected.rstrip("\n")


def test_it_counts_the_rules_and_prefixes_right() -> None:
    assert f"[{len(all_rules())} rules](docs/rules.md)" in README
    assert f"There are {len(PREFIXES)} such prefixes" in README


@pytest.mark.parametrize("name", ["parse", "validate", "Session", "Writer", "scan", "follow", "load_session"])
def test_every_name_it_uses_is_public(name: str) -> None:
    assert name in blackbox.__all__
