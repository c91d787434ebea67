"""Budget, metrics and totals: exact findings, and the plain path beside the full one."""

import decimal
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blackbox.check.findings import Finding
from blackbox.check.totals import TotalChecks
from tests.blackbox.check.logs import found, info, warning
from tests.blackbox.syntax.soup import line_of


@pytest.mark.requirement("VALID-15")
def test_end_beyond_the_budget() -> None:
    body = "@start id=a budget=$5\n@end summary=x cost=$7.20\n"
    assert found(body) == [warning("B001", 2, "$7.20 spent of a budget of $5")]


@pytest.mark.requirement("VALID-15")
def test_budget_of_the_header_counts_until_a_start_gives_one() -> None:
    assert found("@checkpoint hour=1 cost=$6\n", budget="$5") == [warning("B001", 1, "$6 spent of a budget of $5")]
    assert found("@start id=a budget=$10\n@end cost=$6\n", budget="$5") == []


@pytest.mark.requirement("VALID-15")
def test_overrun_is_told_once_where_it_happens() -> None:
    body = (
        "@start id=a budget=$1\n"
        "a: One step=1\n"
        "# metrics step=1 prompt_tokens=1 completion_tokens=1 cost_usd=0.60\n"
        "a: Two step=2 # metrics prompt=1 completion=1 cost=0.60\n"
        "@end cost=$1.20\n"
    )
    assert found(body) == [warning("B001", 4, "$1.20 spent of a budget of $1")]


@pytest.mark.requirement("VALID-15")
def test_negative_remainder_is_an_overrun() -> None:
    assert found("# budget: $5.00 remaining=$-0.50 tokens=3\n", budget="$5") == []
    assert found("# budget: $5.00 remaining=-$0.50 tokens=3\n", budget="$5") == [
        warning("B001", 1, "$5.50 spent of a budget of $5")
    ]


def test_spending_the_whole_budget_is_no_overrun() -> None:
    assert found("@start id=a budget=$5\n@end cost=$5.00\n") == []


@pytest.mark.requirement("VALID-16")
def test_closing_line_that_contradicts_the_end() -> None:
    body = "@start id=a\n@end cost=$0.50 tokens=100\n# tokens=90 tools=0 cost=$0.40\n"
    assert found(body) == [
        warning("B002", 3, "the closing line says $0.40, `@end` says $0.50"),
        warning("B002", 3, "the closing line says 90 tokens, `@end` says 100"),
    ]


@pytest.mark.requirement("VALID-16")
def test_steps_that_cost_more_than_the_end_says() -> None:
    metrics = "# metrics step=1 prompt_tokens=900 completion_tokens=100 cost_usd=0.50"
    body = f"a: One step=1\n{metrics}\n@end cost=$0.20 tokens=500\n"
    assert found(body) == [
        warning("B002", 3, "the steps sum to $0.50, the total says $0.20"),
        warning("B002", 3, "the steps sum to 1000 tokens, the total says 500"),
    ]


@pytest.mark.requirement("VALID-16")
def test_steps_that_cost_more_than_the_closing_line_says() -> None:
    body = "a: One # metrics prompt=5 completion=5 cost=0.50\n# tokens=3 tools=0 cost=$0.20\n"
    assert found(body) == [
        warning("B002", 2, "the steps sum to $0.50, the total says $0.20"),
        warning("B002", 2, "the steps sum to 10 tokens, the total says 3"),
    ]


def test_steps_may_cost_less_than_the_total() -> None:
    metrics = "# metrics step=1 prompt_tokens=9 completion_tokens=1 cost_usd=0.10"
    body = f"a: One step=1\n{metrics}\n@end cost=$0.20 tokens=50\n"
    assert found(body) == []


def test_rounding_of_a_cent_is_no_contradiction() -> None:
    body = "a: One step=1\n# metrics step=1 prompt_tokens=9 completion_tokens=1 cost_usd=0.204\n@end cost=$0.20\n"
    assert found(body) == []


def test_metrics_of_a_step_given_inline_and_again_count_once() -> None:
    body = (
        "a: One step=1 # metrics prompt=5 completion=5 cost=0.10\n"
        "# metrics step=1 prompt_tokens=5 completion_tokens=5 cost_usd=0.10\n"
        "@end tokens=10 cost=$0.10\n"
    )
    assert found(body) == []


def test_metric_that_is_no_number() -> None:
    body = "a: One step=1\n# metrics step=1 prompt_tokens=many completion_tokens=3 cost_usd=lots\n"
    assert found(body) == [warning("B003", 2, "`prompt_tokens=many` is not a number", 18)]


@pytest.mark.parametrize("word", ["cost_usd=1.2.3", "cost=x", "cached=1.5", "completion_tokens="])
def test_metrics_that_are_no_numbers(word: str) -> None:
    assert found(f"a: One step=1\n# metrics step=1 {word}\n") == [warning("B003", 2, f"`{word}` is not a number", 18)]


@pytest.mark.parametrize(
    "line",
    [
        "a: The cost=high is what prompt=x means # metrics prompt=1 completion=2",
        "a: One # metrics prompt=1 cost=$1,200.50 extra.prompt=x",
        "a: One # metrics prompt=1 system_prompt=x",
    ],
)
def test_what_is_no_metric_may_be_anything(line: str) -> None:
    assert found(f"{line}\n") == []


def test_bad_metrics_are_left_out_of_the_sums() -> None:
    body = "a: One step=1\n# metrics step=1 prompt_tokens=x completion_tokens=7 cost_usd=0.5\n@end tokens=6\n"
    assert [finding.message for finding in found(body)][1:] == ["the steps sum to 7 tokens, the total says 6"]


def test_metrics_are_joined_to_their_steps() -> None:
    assert found("# metrics step=5 cost_usd=0.5\n") == [
        info("S007", 1, "no line has the step 5 these metrics are for")
    ]


words = st.lists(
    st.one_of(
        st.builds(
            "{}={}".format,
            st.sampled_from(
                [
                    "step",
                    "prompt_tokens",
                    "completion_tokens",
                    "cached_tokens",
                    "cost_usd",
                    "cost",
                    "prompt",
                    "extra.a",
                    "x",
                ]
            ),
            st.sampled_from(
                ["0", "1", "12", "007", "0.5", "$1.50", "-1", "²", "x", "", "1" * 19, '"5"', "1,000", "3\r"]
            ),
        ),
        st.sampled_from(["", "word", "\t", "\\s", "@blob sha256=ab"]),
    ),
    max_size=6,
).map(" ".join)


class Sums:
    """What a checker makes of metrics: its findings, the steps it tells of, and its sums."""

    def __init__(self, *, quick: bool) -> None:
        self.findings: list[Finding] = []
        self.steps: list[tuple[int, int]] = []
        self.checks = TotalChecks(self.findings.append)
        self.checks._budget = decimal.Decimal(2)
        self.checks.on_metrics = lambda step, line: self.steps.append((step, line))
        self.quick = quick

    def take(self, source: str, *, escaped: bool) -> None:
        line = line_of(source, escaped=escaped)
        with mock.patch.object(
            TotalChecks, "_plain_metrics", TotalChecks._plain_metrics if self.quick else declining
        ):
            self.checks._comment(line)

    @property
    def state(self) -> object:
        return self.findings, self.steps, self.checks._cost, self.checks._tokens, self.checks._overrun


def declining(_checks: TotalChecks, _words: str, _line: object) -> bool:
    return False


@given(st.lists(words, max_size=4), st.booleans(), st.sampled_from([None, 1, 12]))
@example(["step=1 prompt_tokens=5 cost_usd=3", "step=1 prompt_tokens=5"], False, 1)
def test_plain_metrics_are_counted_as_the_full_parser_counts_them(
    comments: list[str], escaped: bool, inline: int | None
) -> None:
    quick, full = Sums(quick=True), Sums(quick=False)
    for sums in (quick, full):
        sums.checks._inline_step = inline
        for text in comments:
            sums.take(f"# metrics {text}", escaped=escaped)
    assert quick.state == full.state
