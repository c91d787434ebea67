"""The requirement tables and the marks on the tests agree, and each kind of disagreement is noticed."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.requirements_table import (
    ROOT,
    Problem,
    Requirement,
    Scan,
    Table,
    check_links,
    check_tables,
    decode,
    link,
    link_all,
    main,
    read_scans,
    read_tables,
    scan,
    summary,
)

FILE = "tests/requirements/demo.toml"
SOURCE = "tests/test_demo.py"


def entry(
    identifier: str = "DEMO-01",
    *tests: str,
    text: str = "A thing is so.",
    status: str = "planned",
    part: str = "log",
    ruling: int | None = None,
    reason: str | None = None,
) -> Requirement:
    return Requirement(identifier, text, status, part, list(tests), ruling, reason)


def table(*entries: Requirement, section: str = "Demo", seed: str | list[str] = "000") -> Table:
    return Table(section, seed, list(entries))


def told(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def only(problems: list[Problem]) -> str:
    assert len(problems) == 1, told(problems)
    return str(problems[0])


def source(text: str, file: str = SOURCE) -> dict[str, Scan]:
    return {file: scan(file, dedent(text))}


MARKED = """
    @pytest.mark.requirement("DEMO-01")
    def test_one(): ...
"""


# The project itself


def test_tables_are_well_formed() -> None:
    tables, problems = read_tables()
    problems += check_tables(tables)
    assert tables
    assert not problems, told(problems)


@pytest.mark.requirement("GROUND-06")
def test_tables_and_marks_agree() -> None:
    problems = check_links(read_tables()[0], read_scans())
    assert not problems, told(problems)


# Tables that must be refused


def test_broken_toml_is_a_problem() -> None:
    found = decode(FILE, "section = ")
    assert isinstance(found, Problem)
    assert "is not TOML" in str(found)


@pytest.mark.parametrize(
    "text",
    [
        'section = "Demo"\nseed = "000"\n',
        'section = "Demo"\nseed = "000"\nowner = "x"\nrequirement = []\n',
        'section = "Demo"\nseed = 0\nrequirement = []\n',
        'section = "Demo"\nseed = "000"\n[[requirement]]\nid = "DEMO-01"\n',
    ],
    ids=["no requirements", "unknown key", "seed is a number", "keys missing"],
)
def test_other_shapes_are_a_problem(text: str) -> None:
    found = decode(FILE, text)
    assert isinstance(found, Problem)
    assert "does not have the shape" in str(found)


def test_well_formed_entries_pass() -> None:
    good = [
        entry(),
        entry("DEMO-02", "tests/test_demo.py::test_one", status="met", ruling=3),
        entry("DEMO-03", status="deferred", reason="A stated non-goal."),
    ]
    assert not check_tables({FILE: table(*good, seed=["000", "design"])})


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (entry("demo-1"), "malformed"),
        (entry("DEMO-1"), "malformed"),
        (entry("DEMO-001"), "malformed"),
        (entry(text=""), "one trimmed line"),
        (entry(text="Two\nlines."), "one trimmed line"),
        (entry(text=" Space before."), "one trimmed line"),
        (entry(text="x" * 201), "201 characters"),
        (entry(status="done"), "status 'done' is unknown"),
        (entry(part="ui"), "part 'ui' is unknown"),
        (entry(ruling=0), "ruling 0 does not exist"),
        (entry(status="met"), "met without a test"),
        (entry("DEMO-01", "t::test_a"), "planned and names tests"),
        (entry("DEMO-01", "t::test_a", status="deferred", reason="So."), "deferred and names tests"),
        (entry("DEMO-01", "t::test_a", "t::test_a", status="met"), "listed twice"),
        (entry(status="deferred"), "deferred without a reason"),
        (entry(status="deferred", reason=" "), "deferred without a reason"),
        (entry(reason="Late."), "planned and has a reason"),
    ],
)
def test_a_bad_entry_is_named_with_its_file(bad: Requirement, fault: str) -> None:
    problem = only(check_tables({FILE: table(bad)}))
    assert problem.startswith(f"{FILE}: {bad.id}: ")
    assert fault in problem


def test_the_longest_text_allowed_passes() -> None:
    assert not check_tables({FILE: table(entry(text="x" * 200))})


def test_an_id_that_stands_twice_names_both_files() -> None:
    problem = only(check_tables({FILE: table(entry()), "other.toml": table(entry())}))
    assert problem.startswith("other.toml: DEMO-01: ")
    assert FILE in problem


def test_an_id_that_stands_twice_in_one_file_is_a_problem() -> None:
    assert "stands already" in only(check_tables({FILE: table(entry(), entry())}))


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (table(entry(), section=" "), "section: is empty"),
        (table(entry(), seed="005"), "seed: '005' is unknown"),
        (table(entry(), seed=[]), "seed: [] is unknown"),
        (table(), "requirement: there is none"),
    ],
)
def test_a_bad_file_level_is_a_problem(bad: Table, fault: str) -> None:
    assert fault in only(check_tables({FILE: bad}))


# Scanning sources


def test_scan_finds_functions_methods_and_nested_classes() -> None:
    found = scan(
        SOURCE,
        dedent("""
            def helper(): ...
            def test_one(): ...
            async def test_two(): ...
            class TestGroup:
                def test_three(self): ...
                class TestInner:
                    def test_four(self): ...
            class Helper:
                def test_not_collected(self): ...
            if CONDITION:
                def test_five(): ...
        """),
    )
    names = ["test_one", "test_two", "TestGroup::test_three", "TestGroup::TestInner::test_four", "test_five"]
    assert found.tests == {f"{SOURCE}::{name}" for name in names}
    assert not found.problems


def test_scan_reads_marks_of_functions_and_classes() -> None:
    found = scan(
        SOURCE,
        dedent("""
            @pytest.mark.requirement("DEMO-01", "DEMO-02")
            @pytest.mark.parametrize("n", [1, 2])
            def test_one(n): ...
            @mark.requirement("DEMO-03")
            class TestGroup:
                @pytest.mark.requirement("DEMO-04")
                def test_two(self): ...
        """),
    )
    one, two = f"{SOURCE}::test_one", f"{SOURCE}::TestGroup::test_two"
    assert [(mark.id, mark.test) for mark in found.marks] == [
        ("DEMO-01", one),
        ("DEMO-02", one),
        ("DEMO-03", two),
        ("DEMO-04", two),
    ]
    assert not found.problems


@pytest.mark.parametrize(
    "text",
    [
        'pytestmark = pytest.mark.requirement("DEMO-01")',
        '@pytest.mark.requirement("DEMO-01")\ndef helper(): ...',
        '@pytest.mark.requirement("DEMO-01")\nclass TestEmpty: ...',
        '@pytest.mark.requirement("DEMO-01")\nclass Helper:\n    def test_one(self): ...',
        "@pytest.mark.requirement\ndef test_one(): ...",
        "shows = pytest.mark.requirement\n@shows('DEMO-01')\ndef test_one(): ...",
        'CASE = pytest.param(1, marks=pytest.mark.requirement("DEMO-01"))',
    ],
)
def test_a_misplaced_mark_is_a_problem(text: str) -> None:
    assert "not a called decorator" in only(scan(SOURCE, text).problems)


def test_a_mark_outside_test_files_is_a_problem() -> None:
    assert "not a called decorator" in only(scan("tests/conftest.py", dedent(MARKED)).problems)


@pytest.mark.parametrize("arguments", ["", "NAME", "1", '"DEMO-01", NAME', 'id="DEMO-01"', "*NAMES"])
def test_a_mark_without_plain_ids_is_a_problem(arguments: str) -> None:
    found = scan(SOURCE, f"@pytest.mark.requirement({arguments})\ndef test_one(): ...")
    assert "plain strings" in only(found.problems)


@pytest.mark.parametrize("text", ["def test_one(:", "\0"])
def test_a_file_that_is_not_python_is_a_problem(text: str) -> None:
    assert "is not Python" in only(scan(SOURCE, text).problems)


# Both directions


def test_agreeing_table_and_marks_pass() -> None:
    met = entry("DEMO-01", f"{SOURCE}::test_one", status="met")
    assert not check_links({FILE: table(met)}, source(MARKED))


@pytest.mark.parametrize(
    ("test", "fault"),
    [
        ("tests/test_gone.py::test_one", "a file that does not exist"),
        (f"{SOURCE}::test_gone", "is not a test of that file"),
        (f"{SOURCE}::test_plain", "does not carry the mark"),
        (f"{SOURCE}::test_other", "does not carry the mark"),
        (f"{SOURCE}::test_one[1]", "names a parameter set"),
    ],
)
def test_a_listed_test_must_exist_and_carry_the_mark(test: str, fault: str) -> None:
    tables = {FILE: table(entry("DEMO-01", test, status="met"))}
    scans = source("""
        def test_plain(): ...
        @pytest.mark.requirement("DEMO-02")
        def test_other(): ...
    """)
    problem = str(check_links(tables, scans)[0])
    assert problem.startswith(f"{FILE}: DEMO-01: {test} ")
    assert fault in problem


def test_a_mark_of_an_unknown_id_is_a_problem() -> None:
    problem = only(check_links({FILE: table(entry("DEMO-02"))}, source(MARKED)))
    assert problem.startswith(f"{SOURCE}: DEMO-01 on {SOURCE}::test_one (line 2): no table has this id")


def test_a_mark_that_the_entry_does_not_list_is_a_problem() -> None:
    problem = only(check_links({FILE: table(entry())}, source(MARKED)))
    assert f"DEMO-01 on {SOURCE}::test_one" in problem
    assert "--link" in problem


def test_a_mark_listed_by_another_entry_only_is_a_problem() -> None:
    entries = [entry("DEMO-01"), entry("DEMO-02", f"{SOURCE}::test_one", status="met")]
    problems = check_links({FILE: table(*entries)}, source(MARKED))
    assert [problem.subject.split()[0] for problem in problems] == ["DEMO-02", "DEMO-01"]


def test_problems_of_a_scan_are_passed_on() -> None:
    assert "is not Python" in only(check_links({FILE: table(entry())}, source("def")))


# Linking

UNLINKED = dedent("""\
    # kept: status = "planned"
    section = "Demo"
    seed = "000"

    [[requirement]]   # the first
    id = "DEMO-01"
    text = 'Says tests = [] and status = "planned".'
    status = "planned"  # kept too
    part = "log"
    tests = []
    ruling = 4

    [[requirement]]
    id = "DEMO-02"
    text = "Another."
    status = "met"
    part = "log"
    tests = [
        "tests/test_demo.py::test_gone",  # goes with its test
    ]

    [[requirement]]
    id = "DEMO-03"
    text = "Not to be built."
    status = 'deferred'
    part = "later"
    tests = [ ]
    reason = "A stated non-goal."
""")


def test_link_sets_status_and_tests_and_nothing_else() -> None:
    linked = link(UNLINKED, {"DEMO-01": ["tests/b.py::test_b", "tests/a.py::test_a", "tests/a.py::test_a"]})
    expected = (
        UNLINKED.replace('status = "planned"  #', 'status = "met"  #')
        .replace("tests = []\nruling", 'tests = ["tests/a.py::test_a", "tests/b.py::test_b"]\nruling')
        .replace('status = "met"\npart', 'status = "planned"\npart')
        .replace('tests = [\n    "tests/test_demo.py::test_gone",  # goes with its test\n]', "tests = []")
    )
    assert linked == expected


def test_link_breaks_long_lists_and_is_stable() -> None:
    claims = {"DEMO-01": [f"tests/some/folder/test_demo.py::test_number_{n}" for n in range(3)]}
    linked = link(UNLINKED, claims)
    assert '\ntests = [\n    "tests/some/folder/test_demo.py::test_number_0",\n' in linked
    assert link(linked, claims) == linked
    assert link(link(linked, {}), claims) == linked


def test_link_keeps_a_linked_table_byte_for_byte() -> None:
    text = UNLINKED.replace("\n", "\r\n")
    assert link(text, {"DEMO-02": ["tests/test_demo.py::test_gone"]}) == text


def test_a_deferred_entry_with_a_test_becomes_met() -> None:
    found = decode(FILE, link(UNLINKED, {"DEMO-03": ["tests/a.py::test_a"]}))
    assert isinstance(found, Table)
    assert found.requirement[2].status == "met"
    assert "remove `reason`" in told(check_tables({FILE: found}))


def test_link_refuses_a_layout_that_it_cannot_edit() -> None:
    inline = UNLINKED.partition("[[requirement]]")[0] + (
        'requirement = [{id = "DEMO-01", text = "So.", status = "planned", part = "log", tests = []}]\n'
    )
    with pytest.raises(ValueError, match="not laid out"):
        link(inline, {"DEMO-01": ["tests/a.py::test_a"]})


def checkout(folder: Path, table_text: str, test_text: str) -> Path:
    (folder / "tests/requirements").mkdir(parents=True)
    (folder / FILE).write_text(table_text, encoding="utf-8")
    (folder / SOURCE).write_text(dedent(test_text), encoding="utf-8")
    return folder


def test_the_script_links_a_checkout_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = checkout(tmp_path, UNLINKED, MARKED)
    assert main([], root) == 1
    assert "does not list this test" in capsys.readouterr().err
    assert main(["--link"], root) == 0
    out, err = capsys.readouterr()
    assert err == f"linked {FILE}\n"
    assert out.splitlines()[1].split() == ["demo", "1", "1", "1"]
    assert link_all(root) == []
    assert sorted(path.name for path in (root / FILE).parent.iterdir()) == ["demo.toml"]


def test_the_script_links_nothing_while_a_test_file_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = checkout(tmp_path, UNLINKED, "def test_one(:")
    assert main(["--link"], root) == 1
    assert "not linked: tests/test_demo.py" in capsys.readouterr().err
    assert (root / FILE).read_text(encoding="utf-8") == UNLINKED


def test_the_script_reports_an_unknown_id_after_linking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = checkout(tmp_path, UNLINKED, '@pytest.mark.requirement("GONE-01")\ndef test_one(): ...')
    assert main(["--link"], root) == 1
    assert "no table has this id" in capsys.readouterr().err


def test_summary_counts_files_parts_and_total() -> None:
    entries = [entry(), entry("DEMO-02", "t::test_a", status="met", part="memory")]
    rows = [line.split() for line in summary({FILE: table(*entries)}).splitlines()]
    assert ["demo", "1", "1", "0"] in rows
    assert ["log", "0", "1", "0"] in rows
    assert ["memory", "1", "0", "0"] in rows
    assert rows[-1] == ["total", "1", "1", "0"]


def test_the_root_is_this_checkout() -> None:
    assert (ROOT / "tests/test_requirements.py").samefile(__file__)
