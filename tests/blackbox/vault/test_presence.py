"""The blobs beside a log, looked at by hash or prefix."""

from pathlib import Path

import pytest

from blackbox.vault.presence import Held, Presence, look_beside
from blackbox.vault.store import BlobStore


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.bbox"
    path.touch()
    return path


@pytest.mark.requirement("BLOB-11")
def test_whole_missing_and_damaged_blobs_are_told_apart(log: Path) -> None:
    store = BlobStore.beside(log)
    whole, damaged = store.put(b"one"), store.put(b"two!")
    (store.folder / damaged.sha256).write_bytes(b"TWO!")
    look_at = look_beside(log)
    assert look_at(whole.sha256) == look_at(whole.sha256[:12]) == Held(Presence.WHOLE, 3)
    assert look_at(damaged.sha256) == Held(Presence.DAMAGED, 4)
    assert look_at("0" * 64) == Held(Presence.MISSING)


def test_prefix_of_two_blobs_is_ambiguous(log: Path) -> None:
    store = BlobStore.beside(log)
    blob = store.put(b"one")
    (store.folder / (blob.sha256[:10] + "0" * 54)).write_bytes(b"")
    assert look_beside(log)(blob.sha256[:10]) == Held(Presence.AMBIGUOUS)


def test_prefix_that_is_too_short_names_nothing(log: Path) -> None:
    blob = BlobStore.beside(log).put(b"one")
    assert look_beside(log)(blob.sha256[:5]) == Held(Presence.MISSING)


def test_without_a_folder_nothing_can_be_said(log: Path) -> None:
    assert look_beside(log)("0" * 64) == Held(Presence.NO_STORE)


def test_store_is_looked_for_beside_the_file_a_link_leads_to(log: Path, tmp_path: Path) -> None:
    blob = BlobStore.beside(log).put(b"one")
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "latest.bbox"
    link.symlink_to(log)
    assert look_beside(link)(blob.sha256) == Held(Presence.WHOLE, 3)


def test_each_blob_is_read_once(log: Path) -> None:
    store = BlobStore.beside(log)
    blob = store.put(b"one")
    look_at = look_beside(log)
    look_at(blob.sha256)
    (store.folder / blob.sha256).unlink()
    assert look_at(blob.sha256) == Held(Presence.WHOLE, 3)
