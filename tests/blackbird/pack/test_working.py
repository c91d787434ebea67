"""Which files and commands are worth naming, and in which order."""

from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.model import Artifact, Change, Command, Outcome, Status
from blackbird.pack.working import (
    COMMANDS,
    ERRORS,
    FILES,
    Batch,
    WorkingSet,
    Worth,
    batches,
    spelled,
    working_set,
)
from tests.blackbird.pack.given import MINUTE, TEXTS, ran
from tests.blackbird.retrieve.artifacts import NOW, artifact

HOME = "/home/dev/harbour"


def done(
    session: str,
    *changed: str,
    read: tuple[str, ...] = (),
    ran: tuple[Command, ...] = (),
    deleted: tuple[str, ...] = (),
    asked: str | None = None,
) -> Artifact:
    """A session that ended so many minutes after the others as its name says."""
    files = [Change(path=path) for path in changed] + [Change(path=path, action="deleted") for path in deleted]
    outcome = Outcome(status=Status.SUCCESS, files=tuple(files), read=read, commands=ran, description=asked)
    return artifact(outcome, title="work", session=session, at=NOW + int(session[1:]) * MINUTE)


def files(*outcomes: Artifact, folders: dict[str, str | None] | None = None, asked: str = "") -> list[str]:
    known = dict.fromkeys((one.session for one in outcomes), HOME) | (folders or {})
    return [one.text for one in working_set(outcomes, known, folder=HOME, description=asked).files]


def commands(*lines: Command, asked: str = "") -> list[str]:
    return [one.text for one in working_set([done("s1", ran=lines)], {}, description=asked).commands]


def test_nothing_is_worth_naming_of_nothing() -> None:
    assert working_set([], {}) == ((), (), ())


def test_what_was_worked_on_last_comes_first() -> None:
    assert files(done("s1", "old.py"), done("s3", "new.py"), done("s2", "middle.py")) == [
        "new.py",
        "middle.py",
        "old.py",
    ]


def test_what_was_changed_comes_before_what_was_read() -> None:
    assert files(done("s1", "b.py", read=("a.py", "b.py"))) == ["b.py", "a.py"]


def test_what_was_worked_on_again_and_again_comes_before_what_was_worked_on_once() -> None:
    again = [done(f"s{at}", "main.py") for at in (1, 2, 3)]
    assert files(*again, done("s4", "once.py")) == ["main.py", "once.py"]


def test_sessions_that_only_talked_do_not_make_work_older() -> None:
    found = working_set([done("s1", "a.py"), done("s2"), done("s3")], {})
    assert [(one.text, one.score) for one in found.files] == [("a.py", 1.0)]


def test_what_is_asked_for_comes_first() -> None:
    work = [done("s1", "src/tides.py"), done("s2", "src/ships.py")]
    assert files(*work) == ["src/ships.py", "src/tides.py"]
    assert files(*work, asked="The tide is computed wrongly") == ["src/tides.py", "src/ships.py"]


def test_sessions_about_the_same_count_more() -> None:
    work = [
        done("s1", "a.py", asked="Review pull request 150"),
        done("s2", "b.py", asked="Rename the flag"),
    ]
    assert files(*work) == ["b.py", "a.py"]
    assert files(*work, asked="Review 150 again") == ["a.py", "b.py"]


def test_names_that_run_words_together_are_found_by_their_beginning() -> None:
    work = [done("s1", "pkg/droidcli/run.go"), done("s2", "pkg/other/run.go")]
    assert files(*work, asked="Let the Droid provider resume")[0] == "pkg/droidcli/run.go"


def test_what_is_gone_is_not_named() -> None:
    assert files(done("s1", "a.py", "docs/b.md"), done("s2", deleted=("a.py", "docs"))) == []
    assert files(done("s1", deleted=("a.py",)), done("s2", "a.py")) == ["a.py"]


def test_paths_are_told_from_the_folder_of_the_work() -> None:
    folders: dict[str, str | None] = {"s1": "/home/dev", "s2": HOME.upper(), "s3": "/home/dev/harbour/sub"}
    work = [
        done("s1", "harbour/a.py", "/home/dev/harbour/b.py"),
        done("s2", f"{HOME.upper()}/c.py"),
        done("s3", "d.py", "../e.py"),
    ]
    assert sorted(files(*work, folders=folders)) == ["a.py", "b.py", "c.py", "e.py", "sub/d.py"]


def test_what_lies_beside_the_folder_is_named_and_what_lies_elsewhere_is_not() -> None:
    work = done("s1", "/home/dev/.github/ci.yml", "/home/else/x.py", "/var/folders/y.py", "~/z.py", "/private/tmp/w")
    assert files(work) == ["../.github/ci.yml"]


def test_without_folders_relative_paths_are_taken_as_they_are() -> None:
    found = working_set([done("s1", "a.py", "../b.py", "/c.py", "")], {})
    assert [one.text for one in found.files] == ["a.py"]


def test_commands_are_told_as_typed_without_what_stands_around_them() -> None:
    line = ran("cd sub && FAST=1 pytest -q 'a b.py' 2>&1 | tail -5; ruff check .")
    assert sorted(commands(line)) == ["FAST=1 pytest -q 'a b.py'", "ruff check ."]


def test_looking_around_is_not_worth_naming() -> None:
    assert commands(ran("ls -la && git status && cat a.py | grep b"), ran("cd sub")) == []


def test_what_no_one_knows_is_worth_naming_when_it_was_needed_twice() -> None:
    deploy = ran("frobnicate --all", kind="other")
    assert commands(deploy) == []
    twice = working_set([done("s1", ran=(deploy,)), done("s2", ran=(deploy,))], {})
    assert [one.text for one in twice.commands] == ["frobnicate --all"]


def test_what_went_well_comes_before_what_failed() -> None:
    assert commands(ran("make test", ok=False), ran("make lint", ok=True)) == ["make lint", "make test"]


def test_short_commands_come_before_long_ones_made_for_one_occasion() -> None:
    long = "go test -v -run TestOne ./pkg/tides/..."
    assert commands(ran(long), ran("go test ./...")) == ["go test ./...", long]


def test_what_only_adds_an_option_to_another_is_left_out() -> None:
    assert commands(ran("go test ./..."), ran("go test ./... -run TestOne")) == ["go test ./..."]
    assert commands(ran("go test ./... -run TestOne")) == ["go test ./... -run TestOne"]


def test_commands_that_cannot_be_run_again_are_left_out() -> None:
    assert commands(ran("pytest $(cat list)"), ran("pytest /tmp/x/test_a.py"), ran("pytest a…")) == []


def test_each_says_where_it_comes_from_and_why() -> None:
    work = [done("s1", "a.py"), done("s2", read=("a.py",))]
    found = working_set(work, dict.fromkeys(("s1", "s2"), HOME), folder=HOME, description="a.py").files[0]
    assert found.ids == (work[1].id, work[0].id)
    assert found.why == "read in 1 session, changed in 1 session"


def test_lines_of_a_pack_begin_with_commands_and_name_each_once() -> None:
    worth = [Worth(str(at), ("art_1",), 1.0, "") for at in range(60)]
    found = WorkingSet(tuple(worth), tuple(worth[:20]), tuple(worth[:9]))
    told = list(batches(found))
    assert [(batch.kind, len(batch.items)) for batch in told] == [
        (COMMANDS, 7),
        (FILES, 24),
        (COMMANDS, 6),
        (FILES, 24),
        (ERRORS, 6),
        (COMMANDS, 6),
        (FILES, 12),
        (COMMANDS, 1),
    ]
    assert [one.text for batch in told if batch.kind == FILES for one in batch.items] == [one.text for one in worth]


def test_a_line_names_the_first_ones() -> None:
    names = tuple(Worth(text, ("art_1",), 1.0, "") for text in ("a.py", "../b.yml", "src/c.py"))
    assert spelled(Batch(FILES, names), 3) == "a.py src/c.py; in ../: b.yml"
    assert spelled(Batch(FILES, names), 1) == "a.py"
    assert spelled(Batch(FILES, names[1:2]), 1) == "in ../: b.yml"
    assert spelled(Batch(COMMANDS, names[:1] * 2), 2) == "a.py · a.py"
    assert spelled(Batch(ERRORS, names[:1]), 1) == "errors met: a.py"


def test_errors_come_last_where_there_is_little_else() -> None:
    worth = (Worth("a", ("art_1",), 1.0, ""),)
    assert [batch.kind for batch in batches(WorkingSet(worth, worth, worth))] == [COMMANDS, FILES, ERRORS]
    assert [batch.kind for batch in batches(WorkingSet(errors=worth))] == [ERRORS]


def test_errors_are_told_as_they_were_met_but_not_those_of_the_agents_own_tools() -> None:
    met = ("<tool_use_error>File does not exist.", "a.go:3:1: x is unused", "Exit code 2")
    work = artifact(Outcome(status=Status.FAIL, errors=met), title="work")
    assert [one.text for one in working_set([work], {}).errors] == ["a.go:3:1: x is unused"]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), TEXTS)
def test_the_same_whatever_the_order_of_outcomes(work: list[tuple[str, str]], asked: str) -> None:
    outcomes = [done(f"s{at}", path, ran=(ran(line),)) for at, (path, line) in enumerate(work)]
    found = working_set(outcomes, {}, folder=HOME, description=asked)
    assert working_set(reversed(outcomes), {}, folder=HOME, description=asked) == found


def test_runs_of_one_session_are_one_session() -> None:
    outcome = Outcome(status=Status.SUCCESS, commands=(ran("pytest"),))
    work = [artifact(outcome, key=str(at), session="s1", run=f"r{at}", at=NOW + at) for at in range(3)]
    (found,) = working_set(work, {"s1": HOME}, folder=HOME).commands
    assert found.why == "run in 1 session"


def test_errors_that_were_mended_in_the_session_that_goes_on_are_not_named() -> None:
    outcome = Outcome(status=Status.SUCCESS, errors=("boom", "bang"), mended=("boom",))
    work, known = [artifact(outcome, session="s1")], {"s1": HOME}
    assert [one.text for one in working_set(work, known, folder=HOME, session="s1").errors] == ["bang"]
    assert [one.text for one in working_set(work, known, folder=HOME, session="s2").errors] == ["bang", "boom"]
