"""Blobs on disk: whole under their hash, or not there at all."""

import errno
import hashlib
import itertools
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox.errors import IntegrityError, ReadError, UsageError, WriteError
from blackbox.syntax.results import Blob
from blackbox.vault.store import BlobStore, State, Verdict, files_around, find_stores

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
DATA = b"what came back\n" * 100
NAME = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore.beside(tmp_path / "session.bbox")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_put_comes_back(store: BlobStore) -> None:
    assert store.put(DATA, "text/plain") == Blob(NAME, len(DATA), "text/plain")
    assert store.read(NAME) == DATA
    assert store.read(NAME[:6].upper()) == DATA


def test_the_folder_is_made_by_the_first_blob(store: BlobStore, tmp_path: Path) -> None:
    assert (store.entries(), store.verify(), store.leftovers()) == ([], [], [])
    assert names_in(tmp_path) == []
    store.put(b"")
    assert names_in(tmp_path) == [".bbox-blobs"]


@POSIX
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_only_the_owner_may_look(store: BlobStore, mask: int) -> None:
    before = os.umask(mask)
    try:
        store.put(DATA, sync=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in store.folder.iterdir()} == {0o600}


@pytest.mark.requirement("BLOB-08")
def test_the_folder_keeps_itself_out_of_version_control(store: BlobStore) -> None:
    store.put(DATA)
    assert names_in(store.folder) == [".gitignore", NAME]
    assert (store.folder / ".gitignore").read_bytes() == b"*\n"


def test_an_ignore_file_of_the_users_own_stays(store: BlobStore) -> None:
    store.folder.mkdir()
    (store.folder / ".gitignore").write_bytes(b"mine\n")
    store.put(DATA)
    assert (store.folder / ".gitignore").read_bytes() == b"mine\n"


@pytest.mark.requirement("BLOB-06")
@pytest.mark.parametrize("sync", [False, True])
def test_a_blob_is_written_once(store: BlobStore, sync: bool) -> None:
    store.put(DATA, sync=sync)
    written = (store.folder / NAME).stat().st_ino
    store.put(DATA, "text/plain", sync=sync)
    BlobStore(store.folder).put(DATA, sync=sync)
    assert (store.folder / NAME).stat().st_ino == written
    assert names_in(store.folder) == [".gitignore", NAME]


def test_a_blob_that_comes_again_is_as_young_as_a_new_one(store: BlobStore) -> None:
    store.put(DATA)
    for again in (store, BlobStore(store.folder)):
        os.utime(store.folder / NAME, (0, 0))
        again.put(DATA)
        assert store.entries()[0].modified.year > 2000


def test_a_blob_that_was_taken_away_meanwhile_is_written_again(store: BlobStore) -> None:
    store.put(DATA)
    (store.folder / NAME).unlink()
    store.put(DATA)
    assert store.read(NAME) == DATA


def test_one_that_was_not_synced_is_synced_when_that_is_asked(
    store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(DATA, sync=False)
    synced: list[int] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    store.put(DATA, sync=True)
    store.put(DATA, sync=True)
    assert synced == [(store.folder / NAME).stat().st_ino, store.folder.stat().st_ino]


@pytest.mark.parametrize("wrong", [b"", b"x" * len(DATA)])
def test_a_damaged_file_is_replaced_when_its_content_comes_again(store: BlobStore, wrong: bytes) -> None:
    store.put(DATA)
    (store.folder / NAME).write_bytes(wrong)
    BlobStore(store.folder).put(DATA)
    assert store.read(NAME) == DATA


@POSIX
def test_a_link_under_the_name_of_a_blob_is_not_followed(store: BlobStore, tmp_path: Path) -> None:
    store.put(b"first")
    (tmp_path / "target").write_bytes(b"mine")
    (store.folder / NAME).symlink_to(tmp_path / "target")
    store.put(DATA)
    assert (tmp_path / "target").read_bytes() == b"mine"
    assert not (store.folder / NAME).is_symlink()
    assert store.read(NAME) == DATA


@pytest.mark.requirement("BLOB-09")
def test_a_damaged_blob_is_an_integrity_error(store: BlobStore) -> None:
    store.put(DATA)
    (store.folder / NAME).write_bytes(b"other")
    with pytest.raises(IntegrityError) as caught:
        store.read(NAME)
    found = hashlib.sha256(b"other").hexdigest()
    assert caught.value.message == (
        f"{store.folder / NAME}: the content does not match its name: expected sha256 {NAME}, found {found}"
    )


@pytest.mark.requirement("BLOB-09")
@given(at=st.integers(0, len(DATA) - 1), byte=st.integers(0, 255), cut=st.booleans())
def test_any_change_is_noticed(tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, cut: bool) -> None:
    store = BlobStore.beside(tmp_path_factory.mktemp("blobs") / "s.bbox")
    store.put(DATA)
    changed = DATA[:at] if cut else DATA[:at] + bytes([byte]) + DATA[at + 1 :]
    (store.folder / NAME).write_bytes(changed)
    if changed == DATA:
        assert store.read(NAME) == DATA
        return
    with pytest.raises(IntegrityError):
        store.read(NAME)


def test_a_blob_that_is_not_there(store: BlobStore) -> None:
    for name in (NAME, NAME[:8]):
        with pytest.raises(ReadError, match=f"there is no blob {name}"):
            store.read(name)


@pytest.mark.parametrize("name", ["abc12", "../session.bbox", "g" * 64, "", NAME + "0", ".gitignore"])
def test_what_is_no_hash_is_refused(store: BlobStore, name: str) -> None:
    store.put(DATA)
    with pytest.raises(UsageError, match="is no hash of a blob"):
        store.read(name)


def test_digits_that_stand_for_two_blobs(store: BlobStore) -> None:
    store.put(DATA)
    (store.folder / (NAME[:10] + "0" * 54)).write_bytes(b"")
    with pytest.raises(UsageError, match=f"{NAME[:6]} stands for 2 blobs"):
        store.read(NAME[:6])


def test_every_file_is_looked_at(store: BlobStore) -> None:
    store.put(DATA)
    empty = store.put(b"").sha256
    (store.folder / NAME).write_bytes(b"other")
    (store.folder / "notes.txt").write_bytes(b"mine")
    (store.folder / f".{NAME}.ab_12.tmp").write_bytes(b"half")
    found = hashlib.sha256(b"other").hexdigest()
    assert sorted(store.verify()) == sorted(
        [
            Verdict(NAME, 5, State.DAMAGED, found),
            Verdict(empty, 0, State.OK),
            Verdict("notes.txt", 4, State.FOREIGN),
        ]
    )


def test_what_a_stopped_writer_left_is_no_blob(store: BlobStore) -> None:
    store.put(DATA)
    left = [f".{NAME}.ab_12cd.tmp", "..gitignore.x1y2.tmp"]
    for name in left:
        (store.folder / name).write_bytes(b"half")
    assert [entry.name for entry in store.entries()] == [NAME]
    assert sorted(entry.name for entry in store.leftovers()) == sorted(left)


def test_blobs_and_leftovers_can_be_removed_and_nothing_else(store: BlobStore) -> None:
    store.put(DATA)
    (store.folder / f".{NAME}.x.tmp").write_bytes(b"")
    (store.folder / "notes.txt").write_bytes(b"mine")
    store.remove(NAME)
    store.remove(f".{NAME}.x.tmp")
    for name in ("notes.txt", "../session.bbox", ".gitignore"):
        with pytest.raises(UsageError, match="is no blob"):
            store.remove(name)
    assert names_in(store.folder) == [".gitignore", "notes.txt"]
    with pytest.raises(WriteError):
        store.remove(NAME)


def test_a_removed_blob_can_be_put_again(store: BlobStore) -> None:
    store.put(DATA)
    store.remove(NAME)
    store.put(DATA)
    assert store.read(NAME) == DATA


def test_a_file_where_the_folder_should_be(store: BlobStore) -> None:
    store.folder.write_bytes(b"")
    with pytest.raises(WriteError, match="is not a folder"):
        store.put(DATA)
    with pytest.raises(ReadError):
        store.entries()


def test_stores_are_found_below_a_folder(tmp_path: Path) -> None:
    for folder in (".", "a/b", ".git", ".bbox-blobs/x"):
        (tmp_path / folder / ".bbox-blobs").mkdir(parents=True, exist_ok=True)
    assert [store.folder for store in find_stores(tmp_path)] == [
        tmp_path / ".bbox-blobs",
        tmp_path / "a/b/.bbox-blobs",
    ]
    assert [store.folder for store in find_stores(tmp_path / ".bbox-blobs")] == [tmp_path / ".bbox-blobs"]


def test_files_that_may_mention_a_blob(store: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    store.put(b"x")
    for name in ("a.bbox", "b.rlog", "c.jsonl", "deep/er/d.blackbox", "e.txt", ".bbox-blobs/f.bbox"):
        (tmp_path / name).write_bytes(b"")
    assert sorted(path.name for path in files_around(store)) == ["a.bbox", "b.rlog", "c.jsonl", "d.blackbox"]


#: Every call through which a blob reaches the disk, and errors a disk gives.
CALLS = ["mkdir", "open", "write", "fsync", "chmod", "replace"]


class Faults:
    """The operating system, failing at one call of the sequence, and there only."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail_at: int, number: int) -> None:
        self.calls: list[str] = []
        self._fail_at = fail_at
        self._number = number
        for name in CALLS:
            monkeypatch.setattr(os, name, self._wrap(name, getattr(os, name)))
        monkeypatch.setattr(os, "fdopen", self._fdopen)

    def _wrap(self, name: str, real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            self.step(name)
            return real(*arguments, **options)

        return call

    def step(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self._fail_at:
            raise OSError(self._number, os.strerror(self._number))

    def _fdopen(self, handle: int, _mode: str) -> "HalfWriter":
        return HalfWriter(handle, self)


class HalfWriter:
    """A file that takes its content in two halves, each of which may fail."""

    def __init__(self, handle: int, faults: Faults) -> None:
        self._handle = handle
        self._faults = faults

    def __enter__(self) -> "HalfWriter":
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._handle)

    def fileno(self) -> int:
        return self._handle

    def flush(self) -> None:
        self._faults.step("flush")

    def write(self, data: bytes) -> None:
        os.write(self._handle, data[: len(data) // 2])
        os.write(self._handle, data[len(data) // 2 :])


@pytest.mark.requirement("BLOB-12")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("sync", [False, True])
def test_a_fault_at_any_call_leaves_no_file_under_a_hash_it_does_not_match(
    tmp_path: Path, number: int, sync: bool
) -> None:
    failed = 0
    for at in itertools.count(1):
        store = BlobStore(tmp_path / f"{at}" / ".bbox-blobs")
        store.folder.parent.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            system = Faults(patch, at, number)
            try:
                store.put(DATA, sync=sync)
            except WriteError:
                failed += 1
        fresh = BlobStore(store.folder)
        assert [verdict.state for verdict in fresh.verify()] in ([], [State.OK])
        assert fresh.leftovers() == []
        # And the next try succeeds.
        assert store.put(DATA, sync=sync).sha256 == NAME
        assert fresh.read(NAME) == DATA
        if len(system.calls) < at:
            break
    # Each of them was told.
    assert failed == at - 1 > 10


@pytest.mark.requirement("BLOB-12")
def test_a_damaged_file_is_never_replaced_by_half_of_the_right_one(tmp_path: Path) -> None:
    for at in range(1, 17):
        store = BlobStore(tmp_path / f"{at}" / ".bbox-blobs")
        store.folder.mkdir(parents=True)
        (store.folder / NAME).write_bytes(b"damaged")
        with pytest.MonkeyPatch.context() as patch:
            Faults(patch, at, errno.ENOSPC)
            with pytest.raises(WriteError, match="no space left"):
                store.put(DATA, sync=True)
        assert (store.folder / NAME).read_bytes() in (b"damaged", DATA)


@POSIX
def test_only_regular_files_are_blobs(store: BlobStore, tmp_path: Path) -> None:
    kept = store.put(b"kept").sha256
    (tmp_path / "target").write_bytes(DATA)
    (store.folder / NAME).symlink_to(tmp_path / "target")
    (store.folder / ("ab" * 32)).mkdir()
    (store.folder / f".{NAME}.x.tmp").mkdir()
    assert [entry.name for entry in store.entries()] == [kept]
    assert store.leftovers() == []
    assert {verdict.name: verdict.state for verdict in store.verify()} == {
        kept: State.OK,
        NAME: State.FOREIGN,
        "ab" * 32: State.FOREIGN,
        f".{NAME}.x.tmp": State.FOREIGN,
    }
    for name in (NAME, "ab" * 32):
        with pytest.raises(ReadError, match="there is no blob"):
            store.read(name)
        with pytest.raises(UsageError, match="is no blob"):
            store.remove(name)
    assert names_in(store.folder) == sorted([".gitignore", kept, NAME, "ab" * 32, f".{NAME}.x.tmp"])
