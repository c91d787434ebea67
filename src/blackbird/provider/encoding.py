"""Content codings, both ways: encoders that flush after each event, and decoders of whole bodies."""

import gzip
import importlib
import importlib.util
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import zstandard

_GZIP_WINDOW = 31
_ZLIB_WINDOW = 15


class UnknownCoding(ValueError):
    """A content coding that is not spoken here."""


class Encoder(Protocol):
    """Compresses a body piece by piece."""

    def add(self, data: bytes) -> bytes:
        """The bytes that carry all of `data`: nothing is held back."""

    def finish(self) -> bytes:
        """The bytes that end the body."""


class _Identity:
    def add(self, data: bytes) -> bytes:
        return data

    def finish(self) -> bytes:
        return b""


class _Zlib:
    def __init__(self, window: int) -> None:
        self._compressor = zlib.compressobj(wbits=window)

    def add(self, data: bytes) -> bytes:
        return self._compressor.compress(data) + self._compressor.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        return self._compressor.flush()


class _Zstandard:
    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor().compressobj()

    def add(self, data: bytes) -> bytes:
        return self._compressor.compress(data) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def finish(self) -> bytes:
        return self._compressor.flush()


def _brotli() -> Any:
    """The `brotli` package, which tests bring along and an installation need not have."""
    if importlib.util.find_spec("brotli") is None:
        raise UnknownCoding("br is spoken only where the package brotli is installed")
    return importlib.import_module("brotli")


class _Brotli:
    def __init__(self) -> None:
        self._compressor = _brotli().Compressor()

    def add(self, data: bytes) -> bytes:
        return bytes(self._compressor.process(data) + self._compressor.flush())

    def finish(self) -> bytes:
        return bytes(self._compressor.finish())


_ENCODERS: Mapping[str, Callable[[], Encoder]] = {
    "identity": _Identity,
    "gzip": lambda: _Zlib(_GZIP_WINDOW),
    "deflate": lambda: _Zlib(_ZLIB_WINDOW),
    "zstd": _Zstandard,
    "br": _Brotli,
}
_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    "br": lambda data: bytes(_brotli().decompress(data)),
}
#: What the provider prefers of the codings that a client accepts.
_PREFERRED = ("zstd", "gzip", "deflate")


def encoder(coding: str) -> Encoder:
    """A fresh encoder, or `UnknownCoding`."""
    if coding not in _ENCODERS:
        raise UnknownCoding(f"{coding!r} is none of {', '.join(_ENCODERS)}")
    return _ENCODERS[coding]()


def encode(data: bytes, coding: str) -> bytes:
    """A whole body, compressed."""
    chosen = encoder(coding)
    return chosen.add(data) + chosen.finish()


def decode(data: bytes, coding: str) -> bytes:
    """A whole body, decompressed; ValueError if it is not what its coding says."""
    if coding not in _DECODERS:
        raise UnknownCoding(f"{coding!r} is none of {', '.join(_DECODERS)}")
    try:
        return _DECODERS[coding](data)
    except (zlib.error, zstandard.ZstdError, OSError, EOFError) as error:
        raise ValueError(f"the body is not {coding}: {error}") from error


def accepted(accept: str) -> str:
    """The coding that the provider takes from an Accept-Encoding field."""
    offered = {item.split(";")[0].strip().lower() for item in accept.split(",") if "q=0" not in item.split(";")[1:]}
    return next((coding for coding in _PREFERRED if coding in offered), "identity")
