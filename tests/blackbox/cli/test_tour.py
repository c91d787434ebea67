"""`blackbox tour`: the guided look at the night shift."""

from pathlib import Path

import pytest

from tests.blackbox.cli.command import NIGHT_SHIFT, run


@pytest.mark.requirement("GROUND-02")
def test_tour_checks_audits_and_shows_both_ends(tmp_path: Path) -> None:
    done = run("tour", "--lines", "5", folder=tmp_path)
    assert (done.code, done.err) == (0, "")
    titles = [line for line in done.out.splitlines() if line.startswith("== ")]
    assert [title.split(".")[0] for title in titles] == [f"== {n}" for n in range(1, len(titles) + 1)]
    assert "    Lines:        692\n" in done.out
    assert "\n1. Files modified: 12\n" in done.out
    assert "\n  gannet-3-max  $0.7509 " in done.out
    assert f"\n{NIGHT_SHIFT.read_text().splitlines()[-1]}\n" in done.out


def test_tour_shows_as_many_lines_as_asked_for() -> None:
    last = NIGHT_SHIFT.read_text().splitlines()
    done = run("tour", "--lines", "3")
    assert "\n".join(last[-3:]) in done.out
    assert last[-4] not in done.out


def test_number_of_lines_must_be_positive() -> None:
    done = run("tour", "--lines", "0")
    assert (done.code, done.out) == (2, "")
