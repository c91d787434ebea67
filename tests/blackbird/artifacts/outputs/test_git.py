"""git: what is a problem, and what only looks like one."""

import pytest

from tests.blackbird.artifacts.outputs.told import told


@pytest.mark.parametrize(
    ("text", "ok", "summary"),
    [
        ("[main 1a2b3c4] Add a cart\n 1 file changed, 2 insertions(+)\n", True, "[main 1a2b3c4] Add a cart"),
        ("[detached HEAD 1a2b3c4] Add\n", True, "[detached HEAD 1a2b3c4] Add"),
        ("Everything up-to-date\n", True, "Everything up-to-date"),
        ("error: could not apply 1a2b3c4... Add a cart\n", False, "error: could not apply 1a2b3c4... Add a cart"),
        ("To x\n ! [remote rejected] main -> main (hook)\n", False, "! [remote rejected] main -> main (hook)"),
    ],
)
def test_words_of_git(text: str, ok: bool, summary: str) -> None:
    assert [(one.ok, one.summary) for one in told(text)] == [(ok, summary)]


def test_a_commit_and_a_push_are_two() -> None:
    commit = "[main 1a2b3c4] Add\n 1 file changed, 1 insertion(+)\n"
    push = "To github.com:a/b.git\n   1a2b3c4..2b3c4d5  main -> main\n"
    assert [(one.ok, one.summary) for one in told(commit + push)] == [
        (True, "[main 1a2b3c4] Add"),
        (True, "1a2b3c4..2b3c4d5 main -> main"),
    ]


def test_what_is_fetched_is_not_pushed() -> None:
    assert told("From github.com:a/b\n   1a2b3c4..2b3c4d5  main       -> origin/main\n") == []
