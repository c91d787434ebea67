"""What calls come to: plans and recalls, files touched, failures."""

import pytest

from blackbox.session.session import Session
from tests.blackbox.session.logs import FEATURE, IMPORT, NIGHT_SHIFT, read_session, session_of


@pytest.mark.requirement("PLANMODE-07", "PLANMODE-08")
def test_lines_with_one_id_are_one_plan() -> None:
    session = session_of(
        'p:create id=p1 "Auth" →\n  1. look\np:write id=p2 "# Other" → [ok]\n'
        "p:update id=p1 →\n  + 2. test\np:complete id=p1 → [ok]\n"
    )
    first, second = session.plans
    assert (first.id, first.title, first.actions) == ("p1", "Auth", ("create", "update", "complete"))
    assert [call.line.number for call in first.calls] == [1, 4, 6]
    assert (second.actions, second.title) == (("write",), "# Other")
    assert (first.is_complete, second.is_complete) == (True, False)


def test_plans_without_ids_begin_with_create() -> None:
    session = session_of('p:create "a"\np:update\np:create "b"\np:complete\n')
    assert [(plan.title, plan.actions) for plan in session.plans] == [
        ("a", ("create", "update")),
        ("b", ("create", "complete")),
    ]


@pytest.mark.requirement("PLANMODE-06")
def test_plan_file_is_named_and_belongs_to_what_is_written() -> None:
    session = session_of('p:file path=~/plans/a.md\np:write id=p1 "# A" → [ok]\np:complete id=p1\np:file path=b.md\n')
    assert session.plan_files == ("~/plans/a.md", "b.md")
    (plan,) = session.plans
    assert plan.path == "~/plans/a.md"


@pytest.mark.requirement("VIEW-10", "CTX-04")
def test_recalls_have_queries_and_matches() -> None:
    session = session_of(
        'r: "billing" "ads" → [2 matches]\n  sess_1: PR #203\n  sess_2: planned\nr:topic → [no matches]\nr: "x"\n'
    )
    assert [(one.queries, one.matched, one.matches) for one in session.recalls] == [
        (("billing", "ads"), 2, ("sess_1: PR #203", "sess_2: planned")),
        (("topic",), 0, ()),
        (("x",), None, ()),
    ]


def test_plans_of_the_night_shift() -> None:
    session = read_session(NIGHT_SHIFT)
    assert [(plan.id, plan.actions, plan.path) for plan in session.plans] == [
        ("p1", ("create", "update", "complete"), None),
        ("p2", ("write", "complete"), ".plans/305-dead-letters.md"),
    ]
    assert [one.matched for one in session.recalls] == [2, 2, 1, 3, 2]


def touched(body: str) -> dict[str, list[tuple[str, int]]]:
    return {
        path: [(touch.access.value, touch.call.line.number) for touch in file.touches]
        for path, file in session_of(body).files.items()
    }


@pytest.mark.requirement("VIEW-07")
def test_files_with_how_and_by_which_line() -> None:
    assert touched("t:read a.rs → [9 lines]\nt:edit a.rs old=x → [ok]\nt:write b.rs → [3 lines]\nu: c.rs\n") == {
        "a.rs": [("read", 1), ("edit", 2)],
        "b.rs": [("write", 3)],
    }


@pytest.mark.parametrize(
    ("call", "path", "access"),
    [
        ("t!:Read id=1 file_path=/src/a.rs → [running]", "/src/a.rs", "read"),
        ("t!:MultiEdit id=1 file_path=a.rs → [running]", "a.rs", "edit"),
        ("t!:NotebookEdit id=1 notebook_path=a.ipynb → [running]", "a.ipynb", "edit"),
        ("t:Write a.rs", "a.rs", "write"),
        ('t:grep "x" path=src → [1 matches]', "src", "search"),
        ("t!:Glob pattern=*.rs path=src → [running]", "src", "search"),
        ("t:git log path=src/a.rs → [ok]", "src/a.rs", "named"),
        ("t:str_replace path=a.rs → [ok]", "a.rs", "edit"),
        ("t:mcp__fs__read_file path=a.rs → [ok]", "a.rs", "read"),
        ("c:fs.write_file path=a.rs → [ok]", "a.rs", "write"),
        ("t:delete a.rs → [ok]", "a.rs", "delete"),
        ("p:file path=plan.md", "plan.md", "plan"),
        ("t:replace file_path=a.py old_string=x new_string=y → [ok]", "a.py", "edit"),
        ("t:write_file file_path=a.py content=x → [ok]", "a.py", "write"),
        ("t:edit filePath=a.py oldString=x newString=y → [ok]", "a.py", "edit"),
        ("t:replace_string_in_file filePath=a.py → [ok]", "a.py", "edit"),
        ("t:search_replace target_file=a.py → [ok]", "a.py", "edit"),
        ("t:list_directory dir_path=src → [ok]", "src", "search"),
        ("t:str_replace_editor command=view path=a.py → [ok]", "a.py", "read"),
        ("t:str_replace_editor command=str_replace path=a.py → [ok]", "a.py", "edit"),
        ("t:str_replace_editor command=create path=a.py → [ok]", "a.py", "write"),
        ("t:str_replace_editor path=a.py → [ok]", "a.py", "named"),
        ('t:apply_patch "*** Begin Patch\\n*** Add File: a.py\\n+x\\n*** End Patch" → [ok]', "a.py", "write"),
    ],
)
def test_access_by_tool_and_argument(call: str, path: str, access: str) -> None:
    assert touched(f"{call}\n") == {path: [(access, 1)]}


def test_list_of_files() -> None:
    assert touched("t:patch files=[a.rs, b.rs, a.rs] → [2 files]\n") == {"a.rs": [("edit", 1)], "b.rs": [("edit", 1)]}


def test_files_that_a_patch_names() -> None:
    patch = (
        "*** Begin Patch\\n*** Update File: src/a.py\\n*** Move to: src/b.py\\n@@\\n-x\\n+y\\n"
        "*** Delete File: old.py\\n*** End Patch"
    )
    expected = {"src/a.py": [("edit", 1)], "src/b.py": [("write", 1)], "old.py": [("delete", 1)]}
    assert touched(f't:apply_patch input="{patch}" → [ok]\n') == expected
    assert touched(f't:apply_patch "{patch}" → [ok]\n') == expected
    unified = "--- a/src/a.py\\n+++ b/src/a.py\\n@@ -1 +1 @@\\n-x\\n+y"
    assert touched(f't:apply_diff diff="{unified}" → [ok]\n') == {"src/a.py": [("edit", 1)]}


@pytest.mark.parametrize(
    ("call", "is_unclear"),
    [
        ("t:frobnicate file_path=a.py → [ok]", True),
        ("t:apply_patch → [ok]", True),
        ("c:forge.comment path=a.py → [ok]", True),
        ("t:frobnicate file_path=a.py → [err: no]", False),
        ("t:frobnicate q=a → [ok]", False),
        ("t:read → [ok]", False),
        ("t:edit a.py → [ok]", False),
        ("t:run_shell_command command=ls dir_path=src → [ok]", False),
        ("x:explore path=a.py → [ok]", False),
    ],
)
def test_calls_that_may_have_changed_files(call: str, is_unclear: bool) -> None:
    assert [one.line.number for one in session_of(f"{call}\n").unclear_calls] == ([1] if is_unclear else [])


@pytest.mark.parametrize(
    "call",
    [
        't:grep "billing" type=rs → [4 files]',
        't:glob "src/*.rs" → [9 files]',
        "t:shell rm a.rs → [ok]",
        "t:read path=https://example.org/a → [ok]",
        "c:forge.search q=a.rs → [1 result]",
        'x:explore "a" → path=trajectories/a.bbox',
        "t:read → [ok]",
    ],
)
def test_what_is_no_file(call: str) -> None:
    assert touched(f"{call}\n") == {}


def test_modified_is_what_a_call_changed_without_failing() -> None:
    body = "t:read a → [ok]\nt:edit b → [err: no]\nt:edit c → [skip]\nt:edit d → [ok]\nt:write e\np:file path=f\n"
    files = session_of(body).files
    assert [path for path, file in files.items() if file.is_modified] == ["d", "e"]
    files = session_of('p:file path=f\np:write id=p1 "x" → [ok]\n').files
    assert files["f"].is_modified
    assert files["f"].accesses == {"plan"}


@pytest.mark.requirement("VIEW-07")
def test_files_of_the_examples() -> None:
    night = read_session(NIGHT_SHIFT).files
    assert len(night) == 20
    assert [path for path, file in night.items() if file.is_modified] == [
        "crates/broker/src/lease.rs",
        "crates/store/src/sqlite.rs",
        "crates/broker/tests/restart.rs",
        "docs/heartbeats.md",
        "crates/cli/src/jobs.rs",
        "crates/broker/src/dispatch.rs",
        ".plans/305-dead-letters.md",
        "crates/store/migrations/0009_dead_jobs.sql",
        "crates/http/src/dead.rs",
        "crates/cli/src/dead.rs",
        "crates/broker/tests/drain.rs",
        "clients/python/tidepool/schedule.py",
    ]
    assert [(touch.access.value, touch.call.id) for touch in night["crates/broker/src/dispatch.rs"].touches] == [
        ("read", "call_37"),
        ("read", "call_41"),
        ("edit", "call_44"),
        ("edit", "call_49"),
    ]
    assert len(read_session(FEATURE).files) == 9
    assert [path for path, file in read_session(IMPORT).files.items() if file.is_modified] == [
        "src/emit/feed.py",
        "src/emit/search.py",
        "tests/test_drafts.py",
        "CHANGELOG.md",
    ]


def listed(session: Session) -> list[tuple[int, str, str | None]]:
    return [(one.line.number, one.message, one.call.name if one.call else None) for one in session.errors]


@pytest.mark.requirement("VIEW-08")
def test_errors_with_call_and_line() -> None:
    session = session_of(
        "t:test id=1 → [running]\n"
        "c:ci.run → [err: 503]\n"
        "o: id=1 level=error → [err: 1 of 23 failed]\n  detail below\n"
        "@notify broken level=error\n"
        "t!:Bash id=2 → [running]\no: id=2 → [error] Exit code 2\n"
        "a: that failed level=error\n"
    )
    assert listed(session) == [
        (2, "503", "ci.run"),
        (3, "1 of 23 failed", "test"),
        (5, "broken", None),
        (7, "Exit code 2", "Bash"),
        (8, "that failed", None),
    ]


def test_call_that_succeeded_in_the_end_is_no_error() -> None:
    session = session_of("t:git span=s attempt=1 → [err: no]\nt:git span=s attempt=2 → [ok]\nt:x level=warn → [ok]\n")
    assert session.errors == ()


def test_level_error_on_a_call_that_did_not_fail_is_listed() -> None:
    assert listed(session_of("t:x a level=error → [ok] but odd\n")) == [(1, "[ok] but odd", None)]


def test_failures_of_the_night_shift() -> None:
    assert listed(read_session(NIGHT_SHIFT)) == [
        (181, "1 of 23 tests failed", "test"),
        (304, "503 service unavailable", "ci.status"),
        (305, "timeout after 15 s", "curl"),
        (486, "2 of 203 tests failed", "test"),
        (538, "job windows-check failed", "ci.run"),
        (566, "forbidden: role agent may not alter staging", "deploy.migrate"),
        (581, "5 of 200 runs failed", "shell"),
    ]
