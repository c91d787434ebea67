"""A trace that comes to be on the disk bit by bit, as a recorder writes it: records, segments, seals."""

from pathlib import Path

from tests.blackbird.trace.encoder import Tracer, encode_record, encode_synced


class Growth:
    """Writes the records of a tracer into a folder, as many as it is told to; those before are there already."""

    def __init__(self, tracer: Tracer, folder: Path) -> None:
        self._tracer = tracer
        self._folder = folder
        self._sealed: set[int] = set()
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def records(self) -> int:
        """How many there are in all."""
        return sum(len(segment.records) for segment in self._tracer.segments)

    def write(self, count: int, *, synced: int | None = None) -> None:
        """The first so many records; `synced` of them are known to be on the disk."""
        left = count
        for segment in self._tracer.segments:
            if left <= 0 and segment.number > 1:
                return
            here = segment.records[:left]
            path = self._folder / f"{segment.number:08}.wal"
            if segment.number not in self._sealed:
                path.write_bytes(segment.header + b"".join(encode_record(segment.id, each) for each in here))
            left -= len(segment.records)
        if synced is not None:
            (self._folder / "synced").write_bytes(encode_synced(1, synced, 0))

    def seal(self, number: int) -> bool:
        """Seal a segment, if it is closed; whether it was."""
        segment, path = self._tracer.segments[number - 1], self._folder / f"{number:08}.wal"
        following = self._folder / f"{number + 1:08}.wal"
        if number in self._sealed or not following.exists():
            return False
        path.with_suffix(".seal").write_bytes(segment.seal)
        path.unlink()
        self._sealed.add(number)
        return True
