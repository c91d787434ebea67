"""What a setting may be."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.config import settings, values

LOCAL = settings.upstream_setting("local")


def named(name: str) -> settings.Setting:
    found = settings.look_up(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "given", "taken"),
    [
        ("memory.mode", "local", "local"),
        ("proxy.listen", "127.0.0.1:4141", "127.0.0.1:4141"),
        ("proxy.listen", "localhost:0", "127.0.0.1:0"),
        ("proxy.listen", "[::1]:65535", "[::1]:65535"),
        ("proxy.listen", "[0:0:0:0:0:0:0:1]:04141", "[::1]:4141"),
        ("proxy.listen", "0.0.0.0:4141", "0.0.0.0:4141"),
        ("proxy.token", "a-long_random.word~", "a-long_random.word~"),
        ("proxy.allowed_hosts", ["Box.Example", "[::1]"], ["box.example", "[::1]"]),
        ("proxy.allowed_origins", ["https://App.example:8443/"], ["https://app.example:8443"]),
        ("proxy.lossless", False, False),
        ("proxy.queue_size", "1 MiB", 1 << 20),
        ("proxy.drain_seconds", 0, 0),
        ("proxy.ca_file", "/etc/ca.pem", "/etc/ca.pem"),
        ("proxy.ca_file", "~/ca.pem", str(Path.home() / "ca.pem")),
        ("trace.rotate_age", "30 d", 2_592_000_000),
        ("redaction.allow", ["a,b"], ["a,b"]),
        ("redaction.rule", [{"id": "x"}], [{"id": "x"}]),
        ("upstreams.local", "http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("upstreams.local", "https://api.example.com/v1/", "https://api.example.com/v1"),
        ("upstreams.local", "http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_a_good_value_is_taken(name: str, given: Any, taken: Any) -> None:
    assert values.check(named(name), given) == taken


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("memory.mode", "hosted", "none of deterministic, local, provider"),
        ("memory.mode", 3, "no text"),
        ("proxy.mode", "Full", "none of full, privacy, passthrough"),
        ("proxy.listen", "4141", "no address and port"),
        ("proxy.listen", "example.com:80", "no address and port"),
        ("proxy.listen", "127.0.0.1:65536", "no address and port"),
        ("proxy.listen", "::1:4141", "no address and port"),
        ("proxy.listen", "127.0.0.1:", "no address and port"),
        ("proxy.token", "short", "16 to 256 characters"),
        ("proxy.token", "with/slash/and/more", "16 to 256 characters"),
        ("proxy.allowed_hosts", "box", "no list"),
        ("proxy.allowed_hosts", ["http://box"], "no host name"),
        ("proxy.allowed_hosts", ["box:80"], "no host name"),
        ("proxy.allowed_origins", ["app.example"], "no origin"),
        ("proxy.allowed_origins", ["https://app.example/path"], "no origin"),
        ("proxy.lossless", "true", "neither true nor false"),
        ("proxy.lossless", 1, "neither true nor false"),
        ("proxy.queue_size", 33_554_432, "has no unit"),
        ("proxy.queue_size", "1 KiB", "not between 1 MiB and 4 GiB"),
        ("proxy.queue_size", "5 GiB", "not between 1 MiB and 4 GiB"),
        ("proxy.drain_seconds", True, "no whole number"),
        ("proxy.drain_seconds", 1.5, "no whole number"),
        ("proxy.drain_seconds", 3601, "not between 0 and 3600"),
        ("proxy.threads", 0, "not between 1 and 256"),
        ("proxy.ca_file", "ca.pem", "no absolute path"),
        ("trace.sync_interval", "0 ms", "not between 1 ms and 10 s"),
        ("trace.rotate_age", "soon", "not a time"),
        ("enrichment.provider_model", "", "empty or has control characters"),
        ("enrichment.provider_model", "a\x1b[2J", "empty or has control characters"),
        ("redaction.rule", {"id": "x"}, "no list of tables"),
        ("redaction.rule", ["x"], "no list of tables"),
        ("redaction.off", [1], "no text"),
        ("upstreams.local", "ftp://box", "must begin with https"),
        ("upstreams.local", "box", "must begin with https"),
        ("upstreams.local", "https://", "must begin with https"),
        ("upstreams.local", "https://box:0", "must begin with https"),
        ("upstreams.local", "https://box:99999", "no URL"),
        ("upstreams.local", "https://[::1", "no URL"),
        ("upstreams.local", "https://user:word@box", "user or a password"),
        ("upstreams.local", "https://box/?key=1", "query"),
        ("upstreams.local", "https://box/?", "query"),
        ("upstreams.local", "https://box/#a", "fragment"),
        ("upstreams.local", "https://box/a b", "space"),
        ("upstreams.local", "https://box/ä", "ASCII"),
    ],
)
def test_a_bad_value_is_refused(name: str, given: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        values.check(named(name), given)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("proxy.lossless", "false", False),
        ("proxy.drain_seconds", "12", 12),
        ("proxy.allowed_hosts", "a, b,", ["a", "b"]),
        ("proxy.queue_size", "2 MiB", "2 MiB"),
    ],
)
def test_a_text_becomes_what_a_file_would_have(name: str, text: str, value: Any) -> None:
    assert values.read_text(named(name), text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("proxy.lossless", "yes"), ("proxy.drain_seconds", "1.5"), ("redaction.allow", "a"), ("redaction.rule", "a")],
)
def test_a_text_that_means_nothing_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"neither true|no whole number|cannot be told"):
        values.read_text(named(name), text)


@pytest.mark.parametrize(
    ("address", "local"),
    [("127.0.0.1:1", True), ("127.9.9.9:1", True), ("[::1]:1", True), ("0.0.0.0:1", False), ("[::]:1", False)],
)
def test_what_other_machines_reach_is_known(address: str, local: bool) -> None:
    assert values.is_loopback(address) is local


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([*settings.known().values(), LOCAL]), _ANYTHING)
def test_anything_is_taken_or_refused_and_what_is_taken_reads_back(setting: settings.Setting, value: Any) -> None:
    try:
        taken = values.check(setting, value)
    except ValueError:
        return
    assert values.check(setting, values.show(setting, taken)) == taken


@given(st.sampled_from([*settings.known().values(), LOCAL]), st.text())
def test_any_text_is_taken_or_refused(setting: settings.Setting, text: str) -> None:
    try:
        values.check(setting, values.read_text(setting, text))
    except ValueError:
        return
