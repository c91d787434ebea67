"""The root of a segment: one hash over its header and all that its records say, however they are stored."""

import hashlib


class Chain:
    """The running root of a segment, from its header on."""

    def __init__(self, header: bytes) -> None:
        self._hash = hashlib.sha256(header)

    def add(self, spelled: bytes | memoryview) -> None:
        """Take one intact record: its bytes from offset 4 on, whole or in pieces."""
        self._hash.update(spelled)

    def root(self) -> bytes:
        """The root of all that was taken so far."""
        return self._hash.digest()
