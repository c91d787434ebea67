"""`blackbox grep`: what is found, how it is shown, and what is said when there is nothing."""

import json
from pathlib import Path

import pytest

from tests.blackbox.cli.command import EXAMPLES, FEATURE, NIGHT_SHIFT, environment, run, write_log

BODY = "u: one\na: two\n  more of two\nt:test x → [err: 1 failed]\nu: four\nu: five\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path, "a.bbox", BODY)


@pytest.mark.requirement("AUDIT-06")
def test_whole_entries_are_shown(log: Path) -> None:
    assert run("grep", "more of", log) == (0, "a: two\n  more of two\n", "")


@pytest.mark.requirement("AUDIT-06")
def test_context_entries_and_the_gap_between_two_groups(log: Path) -> None:
    assert run("grep", "one|four", log, "-C", "1", "-n").out == (
        "9:u: one\n10-a: two\n11-  more of two\n12-t:test x → [err: 1 failed]\n13:u: four\n14-u: five\n"
    )
    assert run("grep", "one|five", log, "-A", "0", "-B", "1").out == "u: one\n--\nu: four\nu: five\n"


@pytest.mark.requirement("AUDIT-06")
def test_filters_on_the_night_shift() -> None:
    done = run("grep", "--tool", "ci.*", "--errors", NIGHT_SHIFT, "--json")
    values = [json.loads(line) for line in done.out.splitlines()]
    assert [(value["line"], value["type"]) for value in values] == [(304, "mcp"), (538, "observation")]
    assert {value["schema"] for value in values} == {"blackbox.grep/1"}
    steps = run("grep", "--type", "t", "--step", "12-13", "-c", NIGHT_SHIFT)
    assert int(steps.out) > 0
    between = run("grep", "--type", "m,@phase", "--since", "5h", "--until", "05:09:00", NIGHT_SHIFT)
    assert [line.partition(" step=")[0] for line in between.out.splitlines()] == [
        "m:plan",
        "@phase explore",
        "@phase design",
        "@phase review",
    ]


def test_several_logs_have_their_names_in_front(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "u: one\n")
    write_log(tmp_path, "b.bbox", "u: one\n  more\n")
    assert run("grep", "one", folder=tmp_path).out == "a.bbox:9:u: one\nb.bbox:9:u: one\nb.bbox:10:  more\n"
    assert run("grep", "-l", "more", folder=tmp_path).out == "b.bbox\n"
    assert run("grep", "-c", "more", folder=tmp_path).out == "a.bbox:0\nb.bbox:1\n"


def test_empty_answer_explains_itself(tmp_path: Path) -> None:
    write_log(tmp_path, "a.bbox", "u: one\n\nt:read x step=3 → [ok]\n")
    done = run("grep", "zebra", "--type", "t", "--step", "1-50", folder=tmp_path)
    told = "no entry with 'zebra' in 1 log, 2 entries (searched t:, t!:, t~: lines of steps 1-50)\n"
    assert done == (1, "", told)


def test_empty_answer_says_when_nothing_could_have_matched() -> None:
    assert run("grep", "--step", "1-3", FEATURE).err.endswith("none that was looked at has a step=\n")


def test_pattern_may_be_left_out_with_a_filter(log: Path) -> None:
    assert run("grep", "--type", "u", log).out == "u: one\nu: four\nu: five\n"
    assert run("grep", "--type", "u", "-", stdin=BODY.encode()).out == "u: one\nu: four\nu: five\n"


def test_standard_input_fixed_text_case_and_inversion() -> None:
    assert run("grep", "-n", "[ERR:", "-F", "-i", "-", stdin=BODY.encode()).out == "4:t:test x → [err: 1 failed]\n"
    assert run("grep", "-v", "o", "-", stdin=BODY.encode()).out == "t:test x → [err: 1 failed]\nu: five\n"


@pytest.mark.parametrize(
    "arguments",
    [(), ("x", "--type", "zz"), ("a(",), ("x", "--call", "--result"), ("x", "--since", "soon"), ("x", "--step", "y")],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    done = run("grep", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("✗ ")


def test_log_that_cannot_be_read_is_told_and_the_others_are_searched(log: Path, tmp_path: Path) -> None:
    done = run("grep", "one", tmp_path / "none.bbox", log)
    assert (done.code, done.out) == (3, f"{log}:9:u: one\n")
    assert "no such file" in done.err


def test_matches_are_marked_on_a_terminal(log: Path) -> None:
    colours = environment(FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b[1;30;43mone\x1b[0m" in run("grep", "one", log, env=colours).out


def test_every_example_can_be_searched() -> None:
    assert run("grep", "--type", "u,a,t,o,c,s,p,m,r,x,q,#,@,th,td", EXAMPLES, "-c").code == 0
