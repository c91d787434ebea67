"""permessage-deflate (RFC 7692): messages compressed, each with what the earlier ones had in common."""

import zlib

NAME = "permessage-deflate"
_WINDOW = -15
_TAIL = b"\x00\x00\xff\xff"
#: What an empty message is packed to (section 7.2.3.6): after a flush, zlib packs nothing to nothing.
_NOTHING = b"\x00"


def is_offered(extensions: str) -> bool:
    """Whether a Sec-WebSocket-Extensions field offers it."""
    return any(offer.split(";")[0].strip().lower() == NAME for offer in extensions.split(","))


class Packing:
    """Both directions of one connection."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(wbits=_WINDOW)
        self._decompressor = zlib.decompressobj(wbits=_WINDOW)

    def pack(self, data: bytes) -> bytes:
        """A message as it is sent."""
        packed = self._compressor.compress(data) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
        return packed.removesuffix(_TAIL) or _NOTHING

    def unpack(self, data: bytes) -> bytes:
        """A message as it was meant; ValueError if it is none."""
        try:
            return self._decompressor.decompress(data + _TAIL)
        except zlib.error as error:
            raise ValueError(f"the message is not {NAME}: {error}") from error
