"""cargo test and nextest: older words, other runners, cut runs."""

from tests.blackbird.artifacts.outputs.told import Told, told

NEXTEST = """\
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.02s
────────────
 Nextest run ID 0b1c2d3e with nextest profile: default
    Starting 3 tests across 2 binaries (1 test skipped)
        PASS [   0.004s] shop tests::empty
        FAIL [   0.005s] shop::total two
──── STDERR:             shop::total two
thread 'two' panicked at tests/total.rs:14:5:
assertion `left == right` failed
        PASS [   0.004s] shop::total one
────────────
     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 1 skipped
        FAIL [   0.005s] shop::total two
error: test run failed
"""


def test_nextest() -> None:
    assert told(NEXTEST)[-1] == Told(
        "nextest",
        "test",
        False,
        "3 tests run: 2 passed, 1 failed, 1 skipped",
        passed=2,
        failed=1,
        skipped=1,
        names=("shop::total two",),
        first_error="thread 'two' panicked at tests/total.rs:14:5:\nassertion `left == right` failed",
    )


def test_the_panics_of_older_versions() -> None:
    text = (
        "running 1 test\ntest two ... FAILED\n\n---- two stdout ----\n"
        "thread 'two' panicked at 'no price', src/lib.rs:3:5\n\n"
        "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"
    )
    (found,) = told(text)
    assert found.first_error == "thread 'two' panicked at 'no price', src/lib.rs:3:5"


def test_a_run_without_its_end_is_unknown() -> None:
    (found,) = told("running 2 tests\ntest one ... ok\n")
    assert (found.ok, found.passed) == (None, None)


def test_the_panic_of_a_test_that_was_cut_is_told_by_the_test() -> None:
    panic = "thread 'two' panicked at src/a.rs:1:1:\nboom\nstack backtrace:\n   0: x\n"
    text = f"running 1 test\ntest two ... FAILED\n\n{panic}"
    assert [(one.tool, one.ok) for one in told(text)] == [("cargo-test", False)]


def test_what_was_cut_behind_may_have_failed() -> None:
    text = "running 1 test\ntest one ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n"
    assert [one.ok for one in told(text)] == [True]
    assert [one.ok for one in told(text, "cargo test | head -20")] == [None]
    assert [one.ok for one in told(text + "[... 40 lines truncated ...]\n")] == [None]


def test_no_test_at_all_is_no_success() -> None:
    text = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
    assert [one.ok for one in told(text)] == [None]
