"""What a run changed: what git says before and after, read and compared."""

import pytest

from blackbird.launch.changes import MOST, State, compare, read_numstat, read_state

HEAD = "# branch.oid 4f2a\0# branch.head main\0"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (HEAD, ("4f2a", "main", False)),
        (HEAD + "# branch.ab +1 -0\0? new.txt\0", ("4f2a", "main", True)),
        ("# branch.oid 4f2a\0# branch.head (detached)\0" + "1 .M N... 1 1 1 a b a\0", ("4f2a", None, True)),
        ("# branch.oid (initial)\0# branch.head main\0", (None, "main", False)),
        ("", (None, None, False)),
    ],
)
def test_the_state_of_a_repository(told: str, expected: tuple[str | None, str | None, bool]) -> None:
    found = read_state(told).spelled()
    assert (found["sha"], found["branch"], found["dirty"]) == expected


def test_the_paths_that_differ() -> None:
    told = HEAD + "1 .M N... 100644 100644 100644 a b my file\0" + "2 R. N... 1 1 1 a b R100 new\0old\0"
    found = read_state(told + "u UU N... 1 1 1 1 a b c both\0? dir/\0")
    assert found.changed == ("my file", "new", "old", "both")
    assert found.untracked == ("dir/",)


def test_lines_are_counted_by_file() -> None:
    told = "3\t1\tsrc/a b.py\0-\t-\timage.png\0"
    assert list(read_numstat(told)) == [("src/a b.py", 3, 1), ("image.png", None, None)]


def test_what_differed_before_is_told_apart() -> None:
    before = State("1", "main", changed=("a",), untracked=("u",))
    after = State("2", "main", changed=("a",), untracked=("u", "v"))
    told = compare(before, after, "1\t0\ta\0002\t5\tb\0")
    assert told["files"] == [
        {"path": "a", "added": 1, "removed": 0, "was_changed": True},
        {"path": "b", "added": 2, "removed": 5},
        {"path": "u", "added": None, "removed": None, "untracked": True, "was_changed": True},
        {"path": "v", "added": None, "removed": None, "untracked": True},
    ]
    assert (told["added"], told["removed"], told["counted"]) == (3, 5, True)


def test_many_files_are_counted_and_not_all_named() -> None:
    numstat = "".join(f"1\t0\t{number:04}\0" for number in range(MOST + 7))
    told = compare(State("1", None), State("1", None), numstat)
    assert (len(told["files"]), told["more_files"], told["added"]) == (MOST, 7, MOST + 7)


def test_lines_that_nobody_counted_are_none() -> None:
    told = compare(State("1", None), State("1", None), None)
    assert (told["files"], told["counted"]) == ([], False)
