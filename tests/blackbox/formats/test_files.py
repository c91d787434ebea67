"""Sessions in files: pairs are read as one session, and nothing is replaced unasked."""

import os
from pathlib import Path

import pytest

from blackbox.errors import ReadError, UsageError, WriteError
from blackbox.events.messages import Message
from blackbox.formats import convert, files
from blackbox.formats.flight import Entry, Flight
from blackbox.formats.recognise import Form

FLIGHT = Flight(
    {"format": "rlog/1", "id": "s", "repo_sha": "abc1234"}, [Entry(Message("user", "x" * 300), {"step": "1"})]
)


def write_pair(folder: Path) -> Path:
    texts = files.targets(convert.write(FLIGHT, Form.RLOG), folder / "s.rlog")
    files.write_files(texts)
    return folder / "s.rlog"


@pytest.mark.requirement("DUAL-03")
def test_an_rlog_is_read_from_its_companion(tmp_path: Path) -> None:
    path = write_pair(tmp_path)
    source = files.read_session(path)
    assert (source.form, source.path) == (Form.COMPANION, tmp_path / "s.jsonl")
    assert source.reading.flight == FLIGHT


def test_header_fields_of_the_rlog_are_kept(tmp_path: Path) -> None:
    path = write_pair(tmp_path)
    path.write_text(path.read_text().replace("repo_sha: abc1234", "repo_sha: fff1234\nbranch: main\nagent:"))
    assert files.read_session(path).reading.flight.header == {
        "format": "rlog/1",
        "id": "s",
        "repo_sha": "fff1234",
        "branch": "main",
    }


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json\n",
        '{"type":"system","message":{"subtype":"init","header":{"id":"t"}}}\n',
        '{"type":"session_meta","payload":{"id":"s"}}\n',
    ],
)
def test_a_companion_that_is_none_is_left_alone(tmp_path: Path, content: str) -> None:
    path = write_pair(tmp_path)
    (tmp_path / "s.jsonl").write_text(content)
    source = files.read_session(path)
    assert source.path == path
    assert source.reading.flight.entries[0].event == Message("user", "x" * 200 + "...")


def test_a_file_of_its_own_is_read_as_it_is(tmp_path: Path) -> None:
    path = write_pair(tmp_path)
    assert files.read_session(path.with_suffix(".jsonl")).form is Form.COMPANION
    (tmp_path / "s.jsonl").unlink()
    assert files.read_session(path).path == path
    with pytest.raises(ReadError, match="no such file"):
        files.read_session(tmp_path / "gone.bbox")


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = write_pair(tmp_path / "new" / "folder")
    if os.name == "posix":
        assert [file.stat().st_mode & 0o777 for file in (path, path.with_suffix(".jsonl"))] == [0o600, 0o600]
        assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["s", "s.rlog", "s.jsonl"])
def test_a_pair_has_one_name(tmp_path: Path, name: str) -> None:
    texts = files.targets(convert.write(FLIGHT, Form.RLOG), tmp_path / name)
    assert list(texts) == [tmp_path / "s.jsonl", tmp_path / "s.rlog"]


def test_a_name_with_dots_keeps_them(tmp_path: Path) -> None:
    texts = files.targets(convert.write(FLIGHT, Form.RLOG), tmp_path / "v1.2")
    assert list(texts) == [tmp_path / "v1.2.jsonl", tmp_path / "v1.2.rlog"]


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    path = write_pair(tmp_path)
    with pytest.raises(UsageError, match="is there already") as refused:
        files.check_targets([path], force=False, sources=[])
    assert "--force" in refused.value.remedy
    files.check_targets([path], force=True, sources=[tmp_path / "gone"])
    with pytest.raises(UsageError, match="is the session that is read"):
        files.check_targets([path], force=True, sources=[path])
    with pytest.raises(UsageError, match="is no file"):
        files.check_targets([tmp_path], force=True, sources=[])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_refuses_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WriteError, match="permission denied"):
        write_pair(tmp_path)
