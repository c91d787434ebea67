"""Base URLs of users, taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.agents import address

HERE = "http://127.0.0.1:4141"


@pytest.mark.parametrize(
    ("text", "path", "port", "expected"),
    [
        ("https://gateway.example", "", None, ("https://gateway.example", "")),
        ("https://gateway.example/", "", None, ("https://gateway.example", "")),
        ("https://gateway.example/v1", "/v1", None, ("https://gateway.example", "/v1")),
        ("https://gateway.example/x/v1/", "/v1", None, ("https://gateway.example/x", "/v1")),
        ("https://gateway.example/x", "/v1", None, ("https://gateway.example/x", "")),
        ("box", "", 11434, ("http://box:11434", "")),
        ("box:80", "", 11434, ("http://box:80", "")),
        (":8080", "", 11434, ("http://127.0.0.1:8080", "")),
        ("0.0.0.0", "", 11434, ("http://127.0.0.1:11434", "")),  # noqa: S104 - read, not bound
        ("[::]:9", "", 11434, ("http://[::1]:9", "")),
        (" http://box:1 ", "", 11434, ("http://box:1", "")),
    ],
)
def test_a_base_url_is_an_upstream_and_a_path(
    text: str, path: str, port: int | None, expected: tuple[str, str]
) -> None:
    assert address.take_apart(text, path, port) == expected


@given(st.sampled_from(["", "/v1", "/v1beta"]), st.from_regex(r"(/[a-z0-9]{1,5}){0,3}", fullmatch=True))
def test_nothing_of_a_base_url_is_lost(path: str, own: str) -> None:
    url = f"https://gateway.example{own}"
    assert "".join(address.take_apart(url, path, None)) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:4141",
        "http://127.0.0.1:4141/anthropic",
        "http://localhost:4141/bb/s/t/r/openai/v1",
        "http://[::1]:4141",
        "http://run_1:x@127.0.0.1:4141",
    ],
)
def test_an_url_of_the_recorder_leads_to_it(url: str) -> None:
    assert address.leads_to(url, HERE)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:4142", "https://gateway.example:4141", "http://10.0.0.1:4141", "", "http://[bad", "x:y:z"],
)
def test_other_urls_do_not(url: str) -> None:
    assert not address.leads_to(url, HERE)


@pytest.mark.parametrize(
    ("listen", "url"),
    [
        ("127.0.0.1:4141", HERE),
        ("0.0.0.0:4141", HERE),
        ("[::]:4141", "http://[::1]:4141"),
        ("192.168.0.7:1", "http://192.168.0.7:1"),
    ],
)
def test_an_address_to_listen_on_is_one_to_connect_to(listen: str, url: str) -> None:
    assert address.connectable(listen) == url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://gateway.example/x", "gateway.example"),
        ("https://user:word@gateway.example:8443/x", "gateway.example:8443"),
        ("http://127.0.0.1:11434", "127.0.0.1:11434"),
    ],
)
def test_people_see_the_host_and_never_a_password(url: str, shown: str) -> None:
    assert address.host_of(url) == shown
