"""What the logs around a store say of its blobs."""

import datetime as dt
import os
from pathlib import Path

import pytest

from blackbox.errors import ReadError
from blackbox.vault.store import BlobStore
from blackbox.vault.survey import survey, sweep

NOW = dt.datetime.now(dt.UTC)


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore.beside(tmp_path / "session.bbox")


def test_each_blob_has_its_lines(store: BlobStore, tmp_path: Path) -> None:
    one, two = store.put(b"one").sha256, store.put(b"two").sha256
    log = tmp_path / "a.bbox"
    log.write_text(
        f"u: hi\nt:x → @blob sha256={one} bytes=3\nt:x → @blob sha256={two[:8]}\nt:x → @blob sha256=abcdef\n"
    )
    found = survey(store)
    assert {name: [use.line for use in uses] for name, uses in found.uses.items()} == {one: [2], two: [3]}
    assert {name: [use.line for use in uses] for name, uses in found.missing.items()} == {"abcdef": [4]}


def test_only_pointers_can_lead_nowhere(store: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "a.bbox").write_text(f"t:docker → sha256:{'ab' * 32}\na: {'cd' * 32}\nt:x → @blob sha256=ab12\n")
    assert survey(store).missing == {}


def test_what_can_go(store: BlobStore, tmp_path: Path) -> None:
    kept = [store.put(bytes([number])).sha256 for number in range(5)]
    idle, young = store.put(b"idle").sha256, store.put(b"young").sha256
    left = store.folder / f".{idle}.x.tmp"
    left.write_bytes(b"half")
    for path in (*(store.folder / name for name in (*kept, idle)), left):
        os.utime(path, (0, 0))
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.bbox").write_text(
        f"t:x → @blob sha256={kept[0]}\n# metrics logprobs=@blob sha256={kept[1]} bytes=1\n"
    )
    (tmp_path / "sub" / "b.rlog").write_text(f"t:x → [ok] @blob sha256={kept[2][:6]}…\n")
    (tmp_path / "c.jsonl").write_text(f'{{"blob": {{"sha256": "{kept[3]}"}}}}\n{{"text": "see {kept[4]}"}}\n')
    found = sweep(store, before=NOW - dt.timedelta(hours=1))
    assert [entry.name for entry in found.blobs] == [idle]
    assert [entry.name for entry in found.leftovers] == [left.name]
    assert (found.mentioned, found.recent) == (5, 1)
    later = sweep(store, before=NOW + dt.timedelta(hours=1))
    assert sorted(entry.name for entry in later.blobs) == sorted([idle, young])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="an owner whom permissions hold")
def test_nothing_can_go_if_a_log_cannot_be_read(store: BlobStore, tmp_path: Path) -> None:
    store.put(b"x")
    (tmp_path / "a.bbox").write_text("u: hi\n")
    (tmp_path / "a.bbox").chmod(0)
    with pytest.raises(ReadError):
        sweep(store, before=NOW)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_nothing_can_go_if_a_log_is_no_file(store: BlobStore, tmp_path: Path) -> None:
    store.put(b"x")
    (tmp_path / "a.bbox").symlink_to(tmp_path / "nowhere.bbox")
    with pytest.raises(ReadError, match="no such file"):
        sweep(store, before=NOW)
