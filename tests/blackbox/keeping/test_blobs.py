"""`blackbox blobs`: list, verify, extract and gc, each as a user runs it."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from blackbox.errors import BlackboxError, IntegrityError, ReadError, UsageError, WriteError
from blackbox.keeping.blobs import app
from blackbox.vault.store import BlobStore
from blackbox.write import Writer

LONG = "a line of a long result\n" * 100
NAME = hashlib.sha256(LONG.encode()).hexdigest()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("logs/session.bbox")
    path.parent.mkdir()
    with Writer.create(path, id="s", repo_sha="abc1234", start=False, steps=False, timestamps=False) as session:
        session.tool("read", "notes.md", result=LONG)
        session.tool("read", "again.md", result=LONG)
    return path


@pytest.fixture
def store(log: Path) -> BlobStore:
    return BlobStore.beside(log)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def read(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def error_of(*arguments: str) -> BlackboxError:
    error = run(*arguments).exception
    assert isinstance(error, BlackboxError)
    return error


def make_old(store: BlobStore) -> None:
    for path in store.folder.iterdir():
        os.utime(path, (0, 0))


@pytest.mark.requirement("BLOB-10")
def test_list_shows_each_blob_with_its_lines(log: Path, store: BlobStore) -> None:
    idle = store.put(b"idle").sha256
    done = run("list")
    rows = [
        f"  ✓ {NAME}  2400 bytes  text/markdown  logs/session.bbox:8, logs/session.bbox:9",
        f"  ! {idle}  4 bytes  -  unreferenced",
    ]
    assert done.exit_code == 0
    assert (
        done.stdout
        == "logs/.bbox-blobs: 2 blobs, 2404 bytes\n\n" + "\n".join(sorted(rows, key=lambda r: r[4:])) + "\n\n"
    )


def test_without_a_command_the_blobs_are_listed(log: Path) -> None:
    assert run().stdout == run("list").stdout


def test_list_of_a_log_shows_its_own_blobs_and_what_is_missing(log: Path, store: BlobStore) -> None:
    store.put(b"idle")
    with log.open("a") as file:
        file.write("t:read → @blob sha256=abcdef123456 bytes=99 mime=text/csv\n")
    assert read("list", str(log)) == {
        "schema": "blackbox.blobs-list/1",
        "store": "logs/.bbox-blobs",
        "blobs": [
            {
                "sha256": NAME,
                "bytes": 2400,
                "mime": "text/markdown",
                "state": "kept",
                "lines": [{"file": str(log), "line": 8}, {"file": str(log), "line": 9}],
            },
            {
                "sha256": "abcdef123456",
                "bytes": 99,
                "mime": "text/csv",
                "state": "missing",
                "lines": [{"file": str(log), "line": 12}],
            },
        ],
    }


def test_verify_of_whole_blobs(log: Path) -> None:
    done = run("verify")
    assert (done.exit_code, done.stdout) == (0, "logs/.bbox-blobs\n\n  ✓ 1 blob whole\n\n")


@pytest.mark.requirement("BLOB-10")
def test_verify_tells_of_damage(store: BlobStore) -> None:
    (store.folder / NAME).write_bytes(b"other")
    (store.folder / "x.txt").write_bytes(b"")
    found = hashlib.sha256(b"other").hexdigest()
    done = run("verify")
    assert done.exit_code == 4
    assert f"✗ {NAME} is damaged: its content has the sha256 {found}" in done.stdout
    assert read("verify") == {
        "schema": "blackbox.blobs-verify/1",
        "store": "logs/.bbox-blobs",
        "whole": 0,
        "damaged": [{"sha256": NAME, "bytes": 5, "found": found}],
        "missing": [],
        "foreign": ["x.txt"],
    }


@pytest.mark.requirement("BLOB-10")
def test_verify_tells_of_what_is_missing(log: Path, store: BlobStore) -> None:
    store.remove(NAME)
    done = run("verify", str(log))
    assert done.exit_code == 1
    assert f"✗ {NAME} is missing: logs/session.bbox:8, logs/session.bbox:9" in done.stdout
    assert read("verify", str(log))["missing"][0]["sha256"] == NAME


def test_verify_of_a_log_whose_folder_has_no_store(log: Path, store: BlobStore) -> None:
    moved = Path("moved.bbox")
    log.rename(moved)
    assert run("verify", str(moved)).exit_code == 1


@pytest.mark.requirement("BLOB-10")
def test_extract_writes_the_content(log: Path) -> None:
    assert run("extract", NAME[:8]).stdout == LONG
    assert run("extract", NAME, str(log)).stdout == LONG


@pytest.mark.requirement("BLOB-10")
def test_extract_into_a_new_file(log: Path) -> None:
    assert run("extract", NAME, "--output", "out.txt").exit_code == 0
    assert Path("out.txt").read_text() == LONG
    error = error_of("extract", NAME, "--output", "out.txt")
    assert (type(error), error.message) == (UsageError, "out.txt is there already")
    assert read("extract", NAME, "--output", "two.txt") == {
        "schema": "blackbox.blobs-extract/1",
        "store": "logs/.bbox-blobs",
        "sha256": NAME,
        "bytes": 2400,
        "output": "two.txt",
    }


def test_nothing_comes_out_of_a_damaged_blob(store: BlobStore) -> None:
    (store.folder / NAME).write_bytes(b"other")
    done = run("extract", NAME, "--output", "out.txt")
    assert isinstance(done.exception, IntegrityError)
    assert done.stdout == ""
    assert not Path("out.txt").exists()


def test_extract_of_what_is_not_there(log: Path) -> None:
    error = error_of("extract", "abcdef")
    assert (type(error), error.message) == (ReadError, "logs/.bbox-blobs: there is no blob abcdef")
    assert isinstance(error_of("extract", "xyz"), UsageError)
    assert isinstance(error_of("extract", NAME, "--json"), UsageError)


def test_extract_looks_in_every_store(log: Path, store: BlobStore) -> None:
    other = BlobStore(Path("more/.bbox-blobs"))
    name = other.put(b"other").sha256
    other.put(LONG.encode())
    assert run("extract", name[:10]).stdout == "other"
    assert run("extract", NAME).stdout == LONG
    (other.folder / (NAME[:12] + "0" * 52)).write_bytes(b"")
    assert error_of("extract", NAME[:12]).message == f"{NAME[:12]} stands for 2 blobs in {other.folder}"
    assert error_of("extract", "abcdef").message == "there is no blob abcdef in 2 stores"


@pytest.mark.requirement("BLOB-10")
def test_gc_shows_first_and_removes_on_request(log: Path, store: BlobStore) -> None:
    idle = store.put(b"idle").sha256
    left = f".{idle}.x.tmp"
    (store.folder / left).write_bytes(b"ha")
    make_old(store)
    done = run("gc")
    kept = "1 mentioned and 0 younger than 1h kept"
    assert done.stdout == (
        f"logs/.bbox-blobs\n\n  {idle}  4 bytes\n  {left}  2 bytes\n\n"
        f"  ! Dry run - use --write to remove 1 blob and 1 leftover, 6 bytes; {kept}\n\n"
    )
    assert (store.folder / idle).exists()
    assert read("gc", "--write") == {
        "schema": "blackbox.blobs-gc/1",
        "store": "logs/.bbox-blobs",
        "blobs": [{"sha256": idle, "bytes": 4}],
        "leftovers": [{"file": left, "bytes": 2}],
        "bytes": 6,
        "kept_mentioned": 1,
        "kept_recent": 0,
        "removed": True,
    }
    assert sorted(path.name for path in store.folder.iterdir()) == [".gitignore", NAME]
    assert run("gc").stdout == f"logs/.bbox-blobs\n\n  Nothing to remove; {kept}\n\n"


@pytest.mark.requirement("BLOB-10")
def test_gc_keeps_what_is_young(store: BlobStore) -> None:
    store.put(b"idle")
    assert read("gc", "--write")["kept_recent"] == 1
    assert read("gc", "--older-than", "0s")["kept_recent"] == 0
    assert isinstance(error_of("gc", "--older-than", "soon"), UsageError)


def test_gc_of_a_log_minds_the_other_logs_too(log: Path, store: BlobStore) -> None:
    other = store.put(b"other").sha256
    Path("logs/other.bbox").write_text(f"t:x → @blob sha256={other}\n")
    make_old(store)
    assert read("gc", str(log), "--write")["kept_mentioned"] == 2


def test_a_folder_without_blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (("list",), ("verify",), ("gc",), ("extract", NAME)):
        error = error_of(*command)
        assert error.message == "this folder: there is no .bbox-blobs folder in or below it"
    assert error_of("list", "nowhere").message == "nowhere: no such file or folder"


@pytest.mark.parametrize("command", ["list", "verify", "extract", "gc"])
def test_each_has_a_help_with_examples(command: str) -> None:
    text = run(command, "--help").stdout
    assert "Examples:" in text
    assert f"blackbox blobs {command}" in text


def test_a_folder_with_the_name_of_a_blob_is_told_and_stays(log: Path, store: BlobStore) -> None:
    idle = store.put(b"idle").sha256
    for digits in ("00" * 32, "ff" * 32):
        (store.folder / digits).mkdir()
    make_old(store)
    done = run("verify")
    assert done.exit_code == 0
    assert f"! {'00' * 32} is no blob; it was put here by someone else\n" in done.stdout
    assert (read("verify")["whole"], read("verify")["foreign"]) == (2, ["00" * 32, "ff" * 32])
    assert [row["sha256"] for row in read("gc", "--write")["blobs"]] == [idle]
    assert (store.folder / ("00" * 32)).is_dir()


@pytest.mark.parametrize("as_json", [False, True])
def test_gc_tells_what_it_removed_when_a_removal_fails(
    store: BlobStore, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    first, second, third = sorted(store.put(data).sha256 for data in (b"one", b"two", b"three"))
    make_old(store)
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name == second:
            raise PermissionError(1, "Operation not permitted")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    done = run("gc", "--write", *(["--json"] if as_json else []))
    assert isinstance(done.exception, WriteError)
    assert second in done.exception.message
    if as_json:
        assert [row["sha256"] for row in json.loads(done.stdout)["blobs"]] == [first, third]
    else:
        assert "✓ Removed 2 blobs and 0 leftovers" in done.stdout
        assert second not in done.stdout
    assert [entry.name for entry in store.entries()] == sorted([NAME, second])
