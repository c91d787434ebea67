"""What tools do, by their names."""

import pytest

from blackbox.events import tools
from blackbox.events.tools import Access, Patched


@pytest.mark.parametrize(
    ("name", "access"),
    [
        ("Read", Access.READ),
        ("read_file", Access.READ),
        ("mcp__fs__write_file", Access.WRITE),
        ("fs.edit-file", Access.EDIT),
        ("replace", Access.EDIT),
        ("apply_patch", Access.EDIT),
        ("delete_file", Access.DELETE),
        ("grep_search", Access.SEARCH),
        ("ls", Access.SEARCH),
        ("Bash", Access.NAMED),
        ("str_replace_editor", Access.NAMED),
        ("", Access.NAMED),
    ],
)
def test_access_by_name(name: str, access: Access) -> None:
    assert tools.access_of(name) is access


@pytest.mark.parametrize(
    "name", ["Bash", "shell", "local_shell", "exec_command", "run_shell_command", "container.exec", "PowerShell"]
)
def test_commands_by_name(name: str) -> None:
    assert tools.is_command(name)
    assert not tools.is_command(f"{name}x")


def test_no_name_is_there_twice() -> None:
    table = tools.table()
    kinds = [getattr(table, kind) for kind in table.__struct_fields__ if kind != "arguments"]
    names = [name for kind in kinds for name in kind.names]
    assert len(names) == len(set(names))
    assert names == [tools.spelled(name) for name in names]


def test_keys_are_there_as_they_are_compared() -> None:
    keys = tools.keys()
    for field in keys.__struct_fields__:
        assert [tools.spelled(key) for key in getattr(keys, field)] == list(getattr(keys, field))


def test_arguments_however_they_are_spelled() -> None:
    assert tools.paths_in({"filePath": "a", "path": None, "files": ["b", "a", 3], "TargetFile": "c"}) == [
        "a",
        "b",
        "c",
    ]
    assert tools.paths_in({"file_path": "https://a.example/", "path": "two\nlines"}) == []
    assert tools.first_text({"cmd": "ls", "command": ["x"]}, tools.keys().commands) == "ls"


def test_files_of_a_patch() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b c\n*** Move to: d\n*** Delete File: e\n"
    assert tools.patched_in(patch) == [
        Patched(Access.WRITE, "a"),
        Patched(Access.EDIT, "b c"),
        Patched(Access.WRITE, "d"),
        Patched(Access.DELETE, "e"),
    ]
    assert tools.patched_in("--- a/x\t2026\n+++ b/x\t2026\n--- y\n+++ /dev/null\n") == [Patched(Access.EDIT, "x")]
