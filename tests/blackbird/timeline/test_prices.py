"""What tokens cost, against sums done by hand."""

import datetime as dt
import importlib.metadata
import subprocess
import sys
from decimal import Decimal

import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo
from genai_prices.types import Usage as Counted
from hypothesis import assume, given
from hypothesis import strategies as st

from blackbird.canon.model import Usage
from blackbird.timeline.prices import Pricer, price

#: 2026-11-16T00:00:00Z
AT = 1_794_787_200_000_000_000
MILLION = Decimal(1_000_000)
LATER = dt.datetime(2026, 11, 16, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def pricer() -> Pricer:
    return Pricer()


def test_cache_reads_and_writes_are_priced_as_such(pricer: Pricer) -> None:
    # Dollars for a million tokens: input 5, cache read 0.50, write 6.25, write for an hour 10, output 25.
    usage = Usage(
        input=1_200, cache_read=48_000, cache_write=9_000, cache_write_1h=4_000, output=2_500, reasoning=700
    )

    by_hand = (
        1_200 * Decimal("5")
        + 48_000 * Decimal("0.50")
        + (9_000 - 4_000) * Decimal("6.25")
        + 4_000 * Decimal("10")
        + 2_500 * Decimal("25")
    ) / MILLION

    assert by_hand == Decimal("0.16375")
    assert pricer.cost("claude-opus-4-5-20251101", usage, AT).usd == by_hand


def test_cached_input_and_reasoning_that_is_part_of_the_output(pricer: Pricer) -> None:
    # Input 1.75, cached input 0.175, output 14.
    usage = Usage(input=3_000, cache_read=20_480, output=1_111, reasoning=640)

    by_hand = (3_000 * Decimal("1.75") + 20_480 * Decimal("0.175") + 1_111 * Decimal("14")) / MILLION

    assert by_hand == Decimal("0.024388")
    assert pricer.cost("gpt-5.2-codex", usage, AT).usd == by_hand


@pytest.mark.parametrize(
    ("fresh", "prices"),
    [
        # All that the model read counts: with 150 000 from the cache, the dearer prices begin above 50 000.
        (50_000, ("1.25", "0.125", "10")),
        (50_001, ("2.50", "0.25", "15")),
    ],
)
def test_prices_that_rise_with_what_is_read(pricer: Pricer, fresh: int, prices: tuple[str, str, str]) -> None:
    read, cached, written = (Decimal(price) for price in prices)

    by_hand = (fresh * read + 150_000 * cached + 800 * written) / MILLION

    usage = Usage(input=fresh, cache_read=150_000, output=800)
    assert pricer.cost("gemini-2.5-pro", usage, AT).usd == by_hand


def test_writes_for_an_hour_where_the_list_has_only_those_for_five_minutes(pricer: Pricer) -> None:
    # Input 15, write 18.75; an hour costs twice the input.
    usage = Usage(input=100, cache_write=3_000, cache_write_1h=1_000, output=10)

    by_hand = (100 * Decimal(15) + 2_000 * Decimal("18.75") + 1_000 * Decimal(15) * 2 + 10 * Decimal(75)) / MILLION

    assert pricer.cost("anthropic/claude-opus-4", usage, AT, "openrouter").usd == by_hand


def test_the_time_decides_between_an_old_price_and_a_new_one(pricer: Pricer) -> None:
    # $40 for a million output tokens until 10 June 2025, $8 from then on.
    usage = Usage(output=1_000_000)
    before = 1_733_011_200_000_000_000

    assert pricer.cost("o3", usage, before).usd == Decimal(40)
    assert pricer.cost("o3", usage, AT).usd == Decimal(8)
    assert pricer.cost("o3", usage, None) == pricer.cost("o3", usage, AT)


@pytest.mark.parametrize(
    ("model", "hint", "known"),
    [
        ("claude-opus-4-5", "https://api.anthropic.com/v1/messages", True),
        ("claude-opus-4-5", "http://127.0.0.1:8080/v1/messages", True),
        ("anthropic/claude-opus-4-5", None, True),
        ("nobody/claude-opus-4-5", None, False),
        ("deepseek-reasoner", None, True),
        ("deepseek-r1:7b", None, False),
        ("ft:gpt-4o-mini:acme", None, False),
        ("scripted-1", None, False),
        ("scripted-1", "openai", False),
        ("", None, False),
        (None, None, False),
    ],
)
def test_what_no_list_knows_stays_unknown(
    pricer: Pricer, model: str | None, hint: str | None, *, known: bool
) -> None:
    cost = pricer.cost(model, Usage(input=10, output=10), AT, hint)

    assert (cost.usd is not None) is known
    assert cost.prices == f"genai-prices {importlib.metadata.version('genai-prices')}"


LIST = [(provider.id, model) for provider in get_snapshot().providers for model in provider.models]
COUNTS = st.integers(0, 300_000)


@given(place=st.sampled_from(LIST), counts=st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS))
def test_the_sum_is_that_of_the_library(place: tuple[str, ModelInfo], counts: tuple[int, ...]) -> None:
    _, model = place
    fresh, read, written, hour, said, thought = counts
    prices = model.get_prices(LATER)
    assume(prices.input_mtok is not None and prices.output_mtok is not None)
    assume(prices.cache_write_1h_mtok is not None or prices.cache_write_mtok is None)
    usage = Usage(
        input=fresh,
        cache_read=read,
        cache_write=written + hour,
        cache_write_1h=hour,
        output=said + thought,
        reasoning=thought,
    )
    expected = prices.calc_price(
        Counted(
            input_tokens=usage.prompt,
            cache_read_tokens=read,
            cache_write_tokens=usage.cache_write,
            cache_write_1h_tokens=hour,
            output_tokens=usage.output,
            output_reasoning_tokens=thought,
        )
    )["total_price"]

    assert price(prices, usage) == expected


def test_a_model_that_is_listed_without_a_price_is_not_free(pricer: Pricer) -> None:
    listed = next((provider, model) for provider, model in LIST if not model.get_prices(LATER).__dict__)

    assert pricer.cost(listed[1].id, Usage(input=10), AT, listed[0]).usd is None


def test_counts_that_cannot_be_have_no_price(pricer: Pricer) -> None:
    assert pricer.cost("claude-opus-4-5", Usage(input=-5, cache_read=10), AT).usd is None


def test_no_tokens_cost_nothing(pricer: Pricer) -> None:
    assert pricer.cost("claude-opus-4-5", Usage(), AT).usd == 0


def test_the_list_is_loaded_for_the_first_price_alone() -> None:
    program = (
        "import sys; from blackbird.timeline.prices import Pricer; p = Pricer(); p.prices;"
        "print('genai_prices' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stdout == "False\n"
