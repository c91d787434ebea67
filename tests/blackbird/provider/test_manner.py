"""How a request asks for the manner of its answer."""

import pytest

from blackbird.provider.manner import Continue, Fault, Framing, Manner, ScriptError, ask
from blackbird.provider.pace import parse_duration


def test_every_wish_is_understood() -> None:
    asked = ask(
        Manner(),
        [
            ("status", "529"),
            ("fault", "cut"),
            ("after", "7"),
            ("encoding", "gzip"),
            ("framing", "close"),
            ("gap", "20ms"),
            ("trailer", "x-sum=1,x-end=done"),
            ("field", "x-more=yes"),
            ("hints", "1"),
            ("expect", "never"),
            ("early", "true"),
            ("retry-after", "3"),
        ],
    )
    assert asked == Manner(
        status=529,
        fault=Fault.CUT,
        after=7,
        encoding="gzip",
        framing=Framing.CLOSE,
        gap=0.02,
        trailer=(("x-sum", "1"), ("x-end", "done")),
        field=(("x-more", "yes"),),
        hints=True,
        expect=Continue.NEVER,
        early=True,
        retry_after=3,
    )


@pytest.mark.parametrize("wish", [("fault", "explode"), ("status", "many"), ("hints", "perhaps"), ("gap", "soon")])
def test_a_wish_that_cannot_be_met_says_so(wish: tuple[str, str]) -> None:
    with pytest.raises(ScriptError, match=f"script-{wish[0]} cannot be '{wish[1]}'"):
        ask(Manner(), [wish])


def test_an_unknown_wish_names_the_known_ones() -> None:
    with pytest.raises(ScriptError, match="there is no script-speed; there are status, fault"):
        ask(Manner(), [("speed", "9")])


@pytest.mark.parametrize(
    ("text", "seconds"), [("20ms", 0.02), ("1.5s", 1.5), ("500us", 0.0005), ("2", 2.0), ("0", 0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)
