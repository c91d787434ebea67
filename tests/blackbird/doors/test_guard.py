"""Who is let in over HTTP."""

import pytest

from blackbird.doors.guard import Guard

GUARD = Guard("127.0.0.1", 4142, "sesame-open-please")
SHOWN = "Bearer sesame-open-please"


def status(guard: Guard = GUARD, *, needs_token: bool = True, **fields: str) -> int:
    refusal = guard.refuse({"host": "127.0.0.1:4142", "authorization": SHOWN, **fields}, needs_token=needs_token)
    return 200 if refusal is None else refusal.status


@pytest.mark.parametrize("host", ["127.0.0.1:4142", "localhost:4142", "[::1]:4142"])
def test_the_names_of_this_machine_are_taken(host: str) -> None:
    assert status(host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:4142",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.evil.example:4142",
        "10.0.0.7:4142",
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(host: str) -> None:
    assert status(host=host) == 421


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "https://localhost:4142",
        "http://localhost:3000",
        "http://localhost:4142.evil.example",
    ],
)
def test_pages_are_refused(origin: str) -> None:
    assert status(origin=origin) == 403


def test_its_own_origin_is_taken() -> None:
    assert status(origin="http://localhost:4142") == 200


@pytest.mark.parametrize(
    "shown", ["", "sesame-open-please", "Basic sesame-open-please", "Bearer", "Bearer sesame", "Bearer ö"]
)
def test_without_the_token_nobody_comes_in(shown: str) -> None:
    assert status(authorization=shown) == 401
    assert status(authorization=shown, needs_token=False) == 200


def test_the_scheme_is_taken_in_any_case() -> None:
    assert status(authorization="bearer sesame-open-please") == 200


@pytest.mark.parametrize(
    ("host", "expected"), [("10.0.0.7:4142", 200), ("[fe80::1]:4142", 200), ("evil.example:4142", 421)]
)
def test_who_listens_for_others_takes_addresses_and_no_names(host: str, expected: int) -> None:
    assert status(Guard("0.0.0.0", 4142, GUARD.token), host=host) == expected  # noqa: S104 - what is asked about


def test_a_refusal_says_what_to_do() -> None:
    refusal = GUARD.refuse({"host": "localhost:4142"})
    assert refusal is not None
    assert refusal.body == {
        "code": "token_missing",
        "message": "the token is missing or another one",
        "remedy": "send `Authorization: Bearer TOKEN`; blackbird mcp --show-token prints it",
    }


def test_the_name_of_an_address_of_the_newer_kind_has_brackets() -> None:
    assert Guard("::1", 7, "t").name == "[::1]:7"
