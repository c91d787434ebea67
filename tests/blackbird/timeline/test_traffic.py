"""Which segments have something of the requests that a log may tell of."""

import pytest

from blackbird.timeline import traffic

HOUR = 3_600_000_000_000
SPANS = {1: (0, HOUR), 2: (10 * HOUR, 50 * HOUR), 3: (20 * HOUR, 21 * HOUR), 4: (10 * HOUR, 50 * HOUR)}


@pytest.mark.parametrize(
    ("times", "numbers"),
    [
        ([], set()),
        ([0], {1}),
        ([2 * HOUR], {1}),
        ([2 * HOUR + 1], set()),
        ([9 * HOUR - 1], set()),
        ([9 * HOUR], {2, 3, 4}),
        ([51 * HOUR], {2, 3, 4}),
        ([0, 30 * HOUR], {1, 2, 3, 4}),
        ([60 * HOUR], set()),
    ],
)
def test_segments_around_some_times(times: list[int], numbers: set[int]) -> None:
    """What was under way in the second segment and in the fourth was in the third as well."""
    assert traffic.around(SPANS, times) == numbers
