"""Each fixer does exactly what it says, once, and leaves everything else alone."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blackbox.check.validator import validate_bytes
from blackbox.document.document import Document, parse
from blackbox.document.line import Line
from blackbox.events.comments import Metrics
from blackbox.repair.fixers import FIXERS, Repair, renumber_steps, repair
from blackbox.session.matching import Matcher, Role
from tests.blackbox.check.test_validator import soup
from tests.blackbox.syntax.soup import log_bytes

NAMES = [fixer.name for fixer in FIXERS]
END = '@end summary="added by blackbox fix: the log had no end"\n'


def fixed(name: str, text: str) -> str:
    return repair(parse(text), [name]).document.emit().decode()


def renumbered(text: str) -> str:
    return fixed("renumber-steps", text)


def with_ids(text: str) -> str:
    return fixed("call-ids", text)


# Renumbering


@pytest.mark.requirement("FIX-05")
def test_steps_are_numbered_in_order_of_first_use() -> None:
    assert renumbered("u: a step=5\na: b step=9\nt:c x step=9 → [ok]\na: d step=7\n") == (
        "u: a step=1\na: b step=2\nt:c x step=2 → [ok]\na: d step=3\n"
    )


@pytest.mark.requirement("FIX-05")
def test_equal_old_numbers_get_one_new_number_however_far_apart() -> None:
    assert renumbered("u: a step=5\na: b step=9\nu: c step=5\n") == "u: a step=1\na: b step=2\nu: c step=1\n"


@pytest.mark.requirement("FIX-05", "VALID-08")
def test_renumbered_steps_break_no_rule_of_order() -> None:
    text = "u: a step=5\na: b step=9\nt:c x step=12 → [ok] step=12\n"
    assert not {finding.rule for finding in validate_bytes(renumbered(text).encode()).findings} & {"S001", "S002"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t:read a step=7 → [ok]", "t:read a step=2 → [ok]"),
        ("t:read a → [ok] step=7 ts=2025-01-01T00:00:00Z", "t:read a → [ok] step=2 ts=2025-01-01T00:00:00Z"),
        ("o:step=7 id=c1 → [ok]", "o:step=2 id=c1 → [ok]"),
        ("u:step=7", "u:step=2"),
        ('u: hello step="7"', 'u: hello step="2"'),
        ("t:read a step=[7] → [ok]", "t:read a step=[2] → [ok]"),
        ("@notify x step=7", "@notify x step=2"),
        ("m:auto step=7  # from step=7 on", "m:auto step=2  # from step=7 on"),
        ("u: hello step=7\r", "u: hello step=2\r"),
        ("t:read a step=007 → [ok]", "t:read a step=2 → [ok]"),
    ],
)
@pytest.mark.requirement("FIX-05")
def test_places_where_a_step_stands(before: str, after: str) -> None:
    assert renumbered(f"u: x step=1\n{before}\n") == f"u: x step=1\n{after}\n"


@pytest.mark.parametrize(
    "line",
    [
        "u: we are at step=7 of the plan",
        't:shell "make step=7 now" → [ok]',
        't:shell "step=7" → [ok]',
        "t:shell substep=7 → [ok]",
        "t:shell x → step=7",
        "t:shell x → the output says step=7 here",
        "u: hello step=seven",
        "# at step=7 we stopped",
        "# notes: step=7 was odd",
        'r: "steps 7" → [no match]',
    ],
)
@pytest.mark.requirement("FIX-07")
def test_text_that_only_looks_like_a_step_is_left_alone(line: str) -> None:
    text = f"u: x step=1\n{line}\nu: y step=2\n  continued with step=7\n"
    assert renumbered(text) == text


@pytest.mark.requirement("FIX-06")
def test_metrics_stay_with_their_step() -> None:
    assert renumbered("a: b step=9\n# metrics step=9 prompt_tokens=1\na: c step=12 # metrics prompt=1 step=12\n") == (
        "a: b step=1\n# metrics step=1 prompt_tokens=1\na: c step=2 # metrics prompt=1 step=2\n"
    )


@pytest.mark.requirement("FIX-06")
def test_metrics_before_their_step_get_its_number() -> None:
    assert renumbered("# metrics step=9 prompt_tokens=1\na: b step=9\n") == (
        "# metrics step=1 prompt_tokens=1\na: b step=1\n"
    )


@pytest.mark.requirement("FIX-06")
def test_anchors_follow() -> None:
    assert renumbered('a: b step=3\na: c step=9\n# anchor step=9 reason="why"\n') == (
        'a: b step=1\na: c step=2\n# anchor step=2 reason="why"\n'
    )


@pytest.mark.requirement("FIX-06", "FIX-07")
def test_quoted_step_in_an_anchor_is_text() -> None:
    assert renumbered('a: c step=9\n# anchor reason="after step=9 came" step=9\n') == (
        'a: c step=1\n# anchor reason="after step=9 came" step=1\n'
    )


@pytest.mark.requirement("FIX-06")
def test_ranges_keep_the_steps_they_cover() -> None:
    body = "".join(f"a: x step={step}\n" for step in (10, 20, 30, 40))
    assert renumbered(body + "# condense range=15-35 detail=summary\n").endswith(
        "# condense range=2-3 detail=summary\n"
    )
    assert renumbered(body + "# condense range=40 detail=summary\n").endswith("# condense range=4 detail=summary\n")


def test_range_that_covers_no_step_stays() -> None:
    assert (
        renumbered("a: x step=5\n# condense range=50-60 detail=x\n")
        == "a: x step=1\n# condense range=50-60 detail=x\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[3 matches from steps 10, 20, 30]", "[3 matches from steps 1, 2, 3]"),
        ("[1 match from step 20]", "[1 match from step 2]"),
        ("[2 matches from steps 10-30]", "[2 matches from steps 1-3]"),
        ("[2 matches from steps 10 and 99]", "[2 matches from steps 1 and 99]"),
    ],
)
@pytest.mark.requirement("FIX-06")
def test_recalls_follow(before: str, after: str) -> None:
    body = "".join(f"a: x step={step}\n" for step in (10, 20, 30))
    assert renumbered(f'{body}r: "q" → {before}\n').endswith(f'r: "q" → {after}\n')


def test_steps_that_are_in_order_stay() -> None:
    assert repair(parse("u: a step=1\na: b step=2\n"), ["renumber-steps"]).total == 0


def own_step(line: Line) -> int | None:
    event = line.event
    return event.step if isinstance(event, Metrics) else line.step


@given(soup)
@example(b"o:step=5 x\nu:step=3\n# metrics step=5\n")
@pytest.mark.requirement("FIX-05", "FIX-06")
def test_steps_that_were_equal_stay_equal_and_run_from_one(data: bytes) -> None:
    # With its start, so that no log is taken for the later part of a rotated session.
    before = parse(data + b"\n@start id=sess_example\n")
    after = repair(before, ["renumber-steps"]).document
    pairs = [(own_step(old), own_step(new)) for old, new in zip(before.lines, after.lines, strict=True)]
    given_to: dict[int, int | None] = {}
    for old, new in pairs:
        if old is None:
            assert new is None
        else:
            assert given_to.setdefault(old, new) == new
    assert list(given_to.values()) == list(range(1, len(given_to) + 1))


def test_later_part_of_a_rotated_session_keeps_its_steps() -> None:
    document = parse(b"u: One step=10\na: Two step=11\n# metrics step=11 prompt_tokens=5\n@end step=12\n")
    assert renumber_steps(document) == []


def test_later_part_whose_steps_jump_is_renumbered() -> None:
    assert [edit.text for edit in renumber_steps(parse(b"u: One step=10\na: Two step=12\n"))] == ["1", "2"]


# The end


@pytest.mark.requirement("FIX-08")
def test_missing_end_is_added() -> None:
    assert fixed("add-end", "@start id=a\nu: hello\n") == f"@start id=a\nu: hello\n{END}"


@pytest.mark.requirement("FIX-08")
def test_end_added_to_a_last_line_without_line_feed() -> None:
    assert fixed("add-end", "@start id=a\nu: hello") == f"@start id=a\nu: hello\n{END}"


@pytest.mark.requirement("FIX-08", "FIX-12")
def test_end_is_added_with_the_line_ends_of_the_file() -> None:
    assert fixed("add-end", "@start id=a\r\nu: hello\r\n") == "@start id=a\r\nu: hello\r\n" + END.replace(
        "\n", "\r\n"
    )


@pytest.mark.parametrize(
    "text", ["u: hello\n", "@start id=a\n@end\n", "@start id=a\n@rotate file=b.bbox\n", "# @start\nu: @start\n", ""]
)
@pytest.mark.requirement("FIX-08")
def test_no_end_is_added_where_none_is_missing(text: str) -> None:
    assert fixed("add-end", text) == text


@pytest.mark.requirement("FIX-08")
def test_added_end_satisfies_the_rule() -> None:
    text = fixed("add-end", "@start id=a\nu: hello\n")
    assert "F002" not in {finding.rule for finding in validate_bytes(text.encode()).findings}


# Arrows


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t:read a -> [3 lines]", "t:read a → [3 lines]"),
        ("t:read a ->\r", "t:read a →\r"),
        ("o: id=c1 -> [ok] a -> b", "o: id=c1 → [ok] a -> b"),
        ('t:grep "x -> y" -> [1 match]', 't:grep "x -> y" → [1 match]'),
        ("@wait-approval pr=1 -> approved # a -> b", "@wait-approval pr=1 → approved # a -> b"),
    ],
)
@pytest.mark.requirement("FIX-09")
def test_arrow_that_was_meant(before: str, after: str) -> None:
    assert fixed("arrows", f"{before}\n") == f"{after}\n"


@pytest.mark.parametrize(
    "text",
    [
        "u: a -> b\n",
        "a: a -> b\n",
        "# a -> b\n",
        "t:x a→b -> c\n",
        't:grep "a -> b"\n',
        "u: x\n  t:read a -> b\n",
        "what -> b\n",
    ],
)
@pytest.mark.requirement("FIX-09", "FIX-12")
def test_arrow_that_is_text(text: str) -> None:
    assert fixed("arrows", text) == text


# Call ids


@pytest.mark.requirement("FIX-10")
def test_calls_get_ids_behind_their_names() -> None:
    assert with_ids('t:read a → [ok]\nc:f.g x=1\nx:explore "look" → [ok]\nt:x→[ok]\n') == (
        't:read id=call_1 a → [ok]\nc:f.g id=call_2 x=1\nx:explore id=sub_1 "look" → [ok]\nt:x id=call_3→[ok]\n'
    )


@pytest.mark.requirement("FIX-10")
def test_ids_that_exist_are_kept_and_not_given_again() -> None:
    assert with_ids("t:read a → [ok]\nt:read id=call_1 b → [ok]\nt:read c id=call_3 → [ok]\nt:read d → [ok]\n") == (
        "t:read id=call_2 a → [ok]\nt:read id=call_1 b → [ok]\nt:read c id=call_3 → [ok]\nt:read id=call_4 d → [ok]\n"
    )


@pytest.mark.requirement("FIX-10")
def test_lines_of_one_call_get_one_id() -> None:
    assert with_ids("t!:a x → [running]\nt~:a half\nt:a → [ok]\nt:a y → [ok]\n") == (
        "t!:a id=call_1 x → [running]\nt~:a id=call_1 half\nt:a id=call_1 → [ok]\nt:a id=call_2 y → [ok]\n"
    )


@pytest.mark.requirement("FIX-10")
def test_lines_joined_by_span_get_one_id() -> None:
    attempts = "t:git span=s attempt=1 → [err: no]\nt!:git span=s → [retry 2/3]\n"
    text = f"t!:git span=s push → [running]\n{attempts}o: span=s → [ok]\n"
    assert with_ids(text) == text.replace("git ", "git id=call_1 ").replace("o:", "o: id=call_1")


@pytest.mark.requirement("FIX-10")
def test_line_that_names_a_call_by_its_span_gets_that_calls_id() -> None:
    assert with_ids("t!:git id=c9 span=s → [running]\nt:git span=s → [ok]\n") == (
        "t!:git id=c9 span=s → [running]\nt:git id=c9 span=s → [ok]\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "t~:test half\n",
        "o: → [ok]\n",
        "q: What? → [pending]\n",
        "s:skill x\n",
        "p:create x\n",
        "t: → [ok]\n",
        "u: x\n",
    ],
)
@pytest.mark.requirement("FIX-10")
def test_what_is_no_call_gets_no_id(text: str) -> None:
    assert with_ids(text) == text


calls = st.lists(
    st.builds(
        "{}{} {} → {}".format,
        st.sampled_from(["t:a", "t!:a", "t~:a", "t:b", "t!:b", "o:", "x:explore", "c:f.g", "t:a\tb"]),
        st.sampled_from(
            ["", "", "", " id=1", " id=2", " id=call_1", " id=sub_1", " span=s", " span=t", " id=1 span=s"]
        ),
        st.sampled_from(["", "tid=2", "attempt=2", "x"]),
        st.sampled_from(["[ok]", "[running]", "[started]", "[retry 2/3]", "[err: no]"]),
    ),
    max_size=12,
).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())


def keys(document: Document) -> dict[int, str]:
    """Which call each line belongs to, as the matcher joins them; an orphan belongs to nothing."""
    matcher = Matcher()
    matches = {line.number: matcher.feed(line) for line in document.lines}
    return {
        number: f"alone {number}" if match.role is Role.ORPHAN else match.key
        for number, match in matches.items()
        if match is not None
    }


def joined_by_span(document: Document, known: dict[int, str]) -> dict[int, str]:
    """The same, with calls taken together that share a span: the matcher forgets spans of calls that are closed."""
    joined = dict(known)
    first: dict[str, str] = {}
    for line in document.lines:
        span = line.head.metadata.get("span")
        if span and line.number in joined and not joined[line.number].startswith("alone"):
            old, new = joined[line.number], first.setdefault(span, joined[line.number])
            joined = {number: new if key == old else key for number, key in joined.items()}
            first = {name: new if key == old else key for name, key in first.items()}
    return joined


@given(calls)
@example("t:a id=1 span=s → [ok]\nt~:a span=s half\nt:a span=s → [ok]\n".encode())
@pytest.mark.requirement("FIX-10")
def test_filling_in_ids_leaves_calls_joined_as_they_were(data: bytes) -> None:
    before = parse(data)
    after = repair(before, ["call-ids"]).document
    old, new = keys(before), keys(after)
    assert old.keys() == new.keys()
    related = joined_by_span(before, old)
    for one, other in itertools.combinations(old, 2):
        assert old[one] != old[other] or new[one] == new[other]
        assert new[one] != new[other] or related[one] == related[other]


@given(soup)
@pytest.mark.requirement("FIX-10")
def test_after_filling_in_every_call_with_a_name_has_an_id(data: bytes) -> None:
    matcher = Matcher()
    for line in repair(parse(data), ["call-ids"]).document.lines:
        match = matcher.feed(line)
        if (
            match is not None
            and match.role in (Role.NEW, Role.REUSED)
            and line.name
            and line.kind.value != "question"
        ):
            assert line.id


# Line ends


@pytest.mark.requirement("FIX-11")
def test_carriage_returns_before_line_feeds_go() -> None:
    assert fixed("line-ends", "---\r\nid: a\r\n---\r\nu: a\rb\r\n  c\r\r\nu: d\r\n") == (
        "---\nid: a\n---\nu: a\rb\n  c\nu: d\n"
    )


# All of them


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.requirement("FIX-13")
def test_mending_what_was_mended_changes_nothing(name: str) -> None:
    check_idempotent(lambda document: repair(document, [name]))


def check_idempotent(mend: Callable[[Document], Repair]) -> None:
    @given(st.one_of(soup, calls, log_bytes))
    @example(b"u: x\r\r\n")
    def check(data: bytes) -> None:
        once = mend(parse(data)).document
        twice = mend(once)
        assert twice.total == 0
        assert twice.document.emit() == once.emit()

    check()


@pytest.mark.requirement("FIX-13")
def test_mending_everything_twice_changes_nothing() -> None:
    check_idempotent(lambda document: repair(document, NAMES))


@given(st.one_of(soup, calls, log_bytes), st.sampled_from(NAMES))
@pytest.mark.requirement("FIX-12")
def test_lines_without_an_edit_keep_their_bytes(data: bytes, name: str) -> None:
    before = parse(data)
    edits = next(fixer for fixer in FIXERS if fixer.name == name).find(before)
    touched = {edit.line for edit in edits}
    after = repair(before, [name]).document
    old, new = list(before.physical_lines), list(after.physical_lines)
    assert [line for n, line in enumerate(new[: len(old)], 1) if n not in touched] == [
        line for n, line in enumerate(old, 1) if n not in touched
    ]
    assert after.has_bom == before.has_bom
    if name != "add-end":
        assert len(new) == len(old)
        assert after.final_newline == before.final_newline


ODD = (
    b"\xef\xbb\xbf---\r\nid: a\r\n---\r\n"
    b"u: caf\xe9 \xff step=4\r\n\tx\0y\r\nt:read a -> b\r\n@start\r\nu: last step=9"
)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("renumber-steps", [b"step=4", b"step=9"], [b"step=1", b"step=2"]),
        ("arrows", [b"->"], ["→".encode()]),
        ("call-ids", [b"t:read a"], [b"t:read id=call_1 a"]),
        ("line-ends", [b"\r\n"], [b"\n"]),
    ],
)
@pytest.mark.requirement("FIX-12", "BYTES-02", "BYTES-03", "BYTES-04", "BYTES-05")
def test_mark_line_ends_bad_bytes_and_missing_newline_stay(name: str, old: list[bytes], new: list[bytes]) -> None:
    expected = ODD
    for before, after in zip(old, new, strict=True):
        expected = expected.replace(before, after)
    assert repair(parse(ODD), [name]).document.emit() == expected


def test_repair_counts_each_fixer_in_its_order() -> None:
    done = repair(parse("@start id=a\r\nt:read a -> b step=3\r\n"), NAMES)
    assert list(done.counts.items()) == [
        ("line-ends", 2),
        ("arrows", 1),
        ("call-ids", 1),
        ("renumber-steps", 1),
        ("add-end", 1),
    ]
    assert done.total == 6
    assert done.document.emit().decode() == f"@start id=a\nt:read id=call_1 a → b step=1\n{END}"


def test_fixers_that_were_not_named_do_not_run() -> None:
    assert repair(parse("t:read a -> b\r\n"), []).counts == {}
