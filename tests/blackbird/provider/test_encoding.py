"""Content codings: what is flushed can be read at once, and what is compressed comes back."""

import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from blackbird.provider import encoding

CODINGS = ["identity", "gzip", "deflate", "zstd", "br"]


@pytest.mark.parametrize("coding", CODINGS)
@given(parts=st.lists(st.binary(max_size=200), max_size=8))
def test_a_body_survives_its_coding(coding: str, parts: list[bytes]) -> None:
    encoder = encoding.encoder(coding)
    packed = b"".join(encoder.add(part) for part in parts) + encoder.finish()
    assert encoding.decode(packed, coding) == b"".join(parts)


def test_each_event_can_be_read_as_soon_as_it_was_added() -> None:
    gzip, zstd = encoding.encoder("gzip"), encoding.encoder("zstd")
    ungzip, unzstd = zlib.decompressobj(wbits=31), zstandard.ZstdDecompressor().decompressobj()
    for event in (b"data: 1\n\n", b"data: 2\n\n"):
        assert ungzip.decompress(gzip.add(event)) == event
        assert unzstd.decompress(zstd.add(event)) == event


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_bytes_that_are_not_what_they_say_are_refused(coding: str) -> None:
    with pytest.raises(ValueError, match=f"the body is not {coding}"):
        encoding.decode(b"plain text", coding)


def test_an_unknown_coding_is_refused() -> None:
    with pytest.raises(encoding.UnknownCoding, match="'lzma' is none of identity, gzip"):
        encoding.encoder("lzma")


@pytest.mark.parametrize(
    ("field", "coding"),
    [("gzip, deflate, br, zstd", "zstd"), ("gzip;q=0.5", "gzip"), ("br", "identity"), ("", "identity")],
)
def test_what_is_taken_of_what_a_client_accepts(field: str, coding: str) -> None:
    assert encoding.accepted(field) == coding
