"""Finds the next intact record behind damage, at a cost that does not grow with what the damaged bytes claim."""

import functools
import re
import zlib
from collections.abc import Iterator

from blackbird.trace.records import FIELDS, FIELDS_AT, HEADER_BYTES, MAX_PAYLOAD

#: The highest byte of a possible length, then a sequence other than zero: all else is skipped at the speed of `re`.
_CANDIDATE = re.compile(rb"[\x00\x01](?=.{4}(?!\x00{8}).{8})", re.DOTALL)
_HIGHEST_BYTE = 7
_CRC_BYTES = 4

#: Up to here, a checksum is made directly.
_SHORT = 16 << 10
_BLOCK = 4 << 10

_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31
_POWERS = 32


class Resync:
    """Looks for intact records from one offset of a segment on."""

    def __init__(self, view: memoryview, base: int, seed: int) -> None:
        self._view = view
        self._base = base
        self._seed = seed
        #: The CRC of the blocks from `base` on, up to each block's start.
        self._sums = [0]

    def find(self, offset: int, least: int) -> int | None:
        """The first offset, from `offset` on, at which an intact record starts; its sequence is at least `least`."""
        view = self._view
        for start in self._candidates(offset):
            length, _, _, _, sequence, _, _ = FIELDS.unpack_from(view, start + FIELDS_AT)
            end = start + HEADER_BYTES + length
            if length > MAX_PAYLOAD or end > len(view) or sequence < least:
                continue
            if self._checksum(start + FIELDS_AT, end) == int.from_bytes(view[start : start + _CRC_BYTES], "little"):
                return start
        return None

    def _candidates(self, offset: int) -> Iterator[int]:
        last = len(self._view) - HEADER_BYTES
        for match in _CANDIDATE.finditer(self._view, offset + _HIGHEST_BYTE):
            start = match.start() - _HIGHEST_BYTE
            if start > last:
                return
            yield start

    def _checksum(self, start: int, end: int) -> int:
        """The CRC-32 of the segment's id and these bytes.

        That of a long stretch is the difference of two prefixes: damaged bytes can name millions of long stretches.
        """
        if end - start <= _SHORT:
            return zlib.crc32(self._view[start:end], self._seed)
        return self._prefix(end) ^ _shift(self._prefix(start) ^ self._seed, end - start)

    def _prefix(self, end: int) -> int:
        block, rest = divmod(end - self._base, _BLOCK)
        while len(self._sums) <= block:
            at = self._base + (len(self._sums) - 1) * _BLOCK
            self._sums.append(zlib.crc32(self._view[at : at + _BLOCK], self._sums[-1]))
        return zlib.crc32(self._view[end - rest : end], self._sums[block])


def _shift(checksum: int, length: int) -> int:
    """What a CRC-32 becomes when `length` zero bytes follow, less what they add themselves."""
    return _multiply(checksum, _power(length))


@functools.lru_cache(maxsize=1 << 12)
def _power(length: int) -> int:
    """x to the number of bits in so many bytes."""
    square, power = 3, _ONE
    while length:
        if length & 1:
            power = _multiply(_SQUARES[square], power)
        length >>= 1
        square += 1
    return power


def _multiply(one: int, other: int) -> int:
    """The product of two polynomials modulo that of CRC-32, lowest power in the highest bit."""
    product = 0
    while one:
        if one & _ONE:
            product ^= other
        one = one << 1 & 0xFFFFFFFF
        other = other >> 1 ^ _POLYNOMIAL if other & 1 else other >> 1
    return product


def _squares() -> list[int]:
    """x to the powers 1, 2, 4, 8 and so on."""
    powers = [_ONE >> 1]
    while len(powers) < _POWERS:
        powers.append(_multiply(powers[-1], powers[-1]))
    return powers


_SQUARES = _squares()
