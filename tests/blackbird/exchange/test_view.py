"""How bodies and times are shown to people."""

import pytest

from blackbird.exchange import view


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b'{"a":[1,2]}', ["{", '  "a": [', "    1,", "    2", "  ]", "}"]),
        (b'{"cut": ', ['{"cut": ']),
        (b"[" * 5000, ["[" * 5000]),
        (b"data: {}\n\n", ["data: {}", ""]),
        (b"caf\xe9", ["caf�"]),
    ],
    ids=["nothing", "json", "cut json", "deep json", "events", "latin"],
)
def test_a_body_in_lines(data: bytes, lines: list[str]) -> None:
    assert view.body_lines(data) == lines


@pytest.mark.parametrize(
    ("time", "text"),
    [(None, "-"), (0, "0.0 ms"), (999_949, "999.9 ms"), (1_000_000, "1.00 s"), (61_500_000, "61.50 s")],
)
def test_a_time(time: int | None, text: str) -> None:
    assert view.milliseconds(time) == text
