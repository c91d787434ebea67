"""Sessions on disk: parts and sub-agents followed, trouble as values."""

import os
from pathlib import Path

import pytest

from blackbox.errors import ReadError
from blackbox.session.load import MAX_DEPTH, load_session, load_with_files, look_beside
from tests.blackbox.session.logs import NIGHT_SHIFT, ROTATED


def write(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nformat: bbox/1\nid: {name}\nrepo_sha: abc123\n---\n{body}", encoding="utf-8")
    return path


def child(path: str) -> str:
    return f'x:explore id=s "look" → path={path}\n'


@pytest.mark.requirement("VIEW-09", "LIFE-14", "SUBREF-04")
def test_example_with_two_parts_and_a_subagent() -> None:
    session = load_session(ROTATED)
    assert (len(session.documents), session.missing_parts, session.missing_subagents) == (2, (), ())
    assert session.elapsed == 1480
    (subagent,) = session.subagents
    assert subagent.session is not None
    assert subagent.session.id == "sess_licence_audit_sub_1"
    assert [call.id for call in subagent.session.calls] == ["call_1", "call_2", "call_3", "call_4"]


def test_unreadable_first_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        load_session(tmp_path / "none.bbox")


def test_relative_path_of_the_first_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.bbox", "@rotate file=b.bbox\n")
    write(tmp_path, "b.bbox", "@end\n")
    monkeypatch.chdir(tmp_path)
    assert load_session("a.bbox").closed


def test_part_in_a_folder_below_names_the_next_one_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "a.bbox", "@rotate file=more/b.bbox\n")
    write(tmp_path, "more/b.bbox", f"{child('kids/k.bbox')}@rotate file=../c.bbox\n")
    write(tmp_path, "more/kids/k.bbox", "u: x\n")
    write(tmp_path, "c.bbox", "@end\n")
    session = load_session(tmp_path / "a.bbox")
    assert [header.id for header in session.headers] == ["a.bbox", "more/b.bbox", "c.bbox"]
    assert session.subagents[0].session is not None


def test_last_rotate_of_a_part_counts(tmp_path: Path) -> None:
    write(tmp_path, "a.bbox", "@rotate file=b.bbox\n@rotate\n@rotate file=c.bbox\n")
    write(tmp_path, "c.bbox", "@end\n")
    session = load_session(tmp_path / "a.bbox")
    assert [header.id for header in session.headers] == ["a.bbox", "c.bbox"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.bbox", "no such file"),
        ("a.bbox", "this part is already in the session"),
        ("../outside.bbox", "outside the folder of the log"),
        ("/etc/hostname", "outside the folder of the log"),
        ("folder", "not a regular file"),
        ("https://example.org/b.bbox", "not a local file"),
        ("file:b.bbox", "not a local file"),
        ("link.bbox", "outside the folder of the log"),
        ("nul\0byte", "not a usable path (embedded null byte)"),
    ],
)
def test_missing_part_is_a_value(tmp_path: Path, name: str, reason: str) -> None:
    write(tmp_path, "outside.bbox", "@end\n")
    folder = tmp_path / "log"
    (folder / "folder").mkdir(parents=True)
    (folder / "link.bbox").symlink_to(tmp_path / "outside.bbox")
    write(folder, "a.bbox", f"u: x\n@rotate file={name}\n")
    session = load_session(folder / "a.bbox")
    (missing,) = session.missing_parts
    assert (missing.path, missing.line.number, missing.reason) == (name, 7, reason)
    assert len(session.documents) == 1
    assert not session.closed


def test_parts_in_a_circle(tmp_path: Path) -> None:
    write(tmp_path, "a.bbox", "@rotate file=b.bbox\n")
    write(tmp_path, "b.bbox", "@rotate file=a.bbox\n")
    session = load_session(tmp_path / "a.bbox")
    assert len(session.documents) == 2
    assert [(missing.path, session.part_of(missing.line)) for missing in session.missing_parts] == [("a.bbox", 1)]


def test_symlink_circle_and_overlong_name(tmp_path: Path) -> None:
    (tmp_path / "x.bbox").symlink_to(tmp_path / "y.bbox")
    (tmp_path / "y.bbox").symlink_to(tmp_path / "x.bbox")
    write(tmp_path, "a.bbox", child("x.bbox") + child("n" * 5000).replace("id=s", "id=t"))
    missing = load_session(tmp_path / "a.bbox").missing_subagents
    assert len(missing) == 2


@pytest.mark.parametrize("name", ["none.bbox", "../outside.bbox", "a.bbox"])
def test_subagent_log_that_cannot_be_read_does_not_stop_the_parent(tmp_path: Path, name: str) -> None:
    write(tmp_path, "outside.bbox", "")
    write(tmp_path / "log", "a.bbox", child(name))
    session = load_session(tmp_path / "log" / "a.bbox")
    (subagent,) = session.subagents
    assert subagent.session is None
    assert subagent.missing is not None
    assert session.missing_subagents == (subagent.missing,)
    assert subagent.missing.path == name


@pytest.mark.requirement("SUBREF-02")
def test_references_elsewhere_are_left_alone() -> None:
    session = load_session(NIGHT_SHIFT)
    assert [(one.session, one.missing) for one in session.subagents] == [(None, None), (None, None)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_log_without_permission(tmp_path: Path) -> None:
    write(tmp_path, "b.bbox", "").chmod(0)
    write(tmp_path, "a.bbox", child("b.bbox"))
    assert [one.reason for one in load_session(tmp_path / "a.bbox").missing_subagents] == ["permission denied"]


def test_subagents_of_subagents(tmp_path: Path) -> None:
    write(tmp_path, "a.bbox", child("b.bbox"))
    write(tmp_path, "b.bbox", child("c.bbox") + "@rotate file=b2.bbox\n")
    write(tmp_path, "b2.bbox", child("a.bbox").replace("id=s", "id=t"))
    write(tmp_path, "c.bbox", child("b.bbox"))
    (outer,) = load_session(tmp_path / "a.bbox").subagents
    assert outer.session is not None
    assert len(outer.session.documents) == 2
    first, second = outer.session.subagents
    assert first.session is not None
    assert second.missing is not None
    assert second.missing.reason == "it is one of the sessions that lead here"
    assert [one.reason for one in first.session.missing_subagents] == ["it is one of the sessions that lead here"]


def test_depth_is_limited(tmp_path: Path) -> None:
    for number in range(MAX_DEPTH + 3):
        write(tmp_path, f"{number}.bbox", child(f"{number + 1}.bbox"))
    session = load_session(tmp_path / "0.bbox")
    depth = 0
    while (inner := session.subagents[0].session) is not None:
        session, depth = inner, depth + 1
    assert depth == MAX_DEPTH
    assert session.missing_subagents[0].reason == f"more than {MAX_DEPTH} sub-agents deep"


def test_log_that_many_subagents_name_is_read_once(tmp_path: Path) -> None:
    for number in range(12):
        twice = child(f"{number + 1}.bbox")
        write(tmp_path, f"{number}.bbox", twice + twice.replace("id=s", "id=t"))
    write(tmp_path, "12.bbox", "u: x\n")
    first, second = load_session(tmp_path / "0.bbox").subagents
    assert first.session is second.session


def test_look_beside_tells_why_a_named_log_cannot_be_read(tmp_path: Path) -> None:
    log = write(tmp_path, "logs/a.bbox", "")
    write(tmp_path, "logs/sub/b.bbox", "")
    write(tmp_path, "outside.bbox", "")
    look_up = look_beside(log)
    names = ("sub/b.bbox", "s3://bucket/b.bbox", "sub/c.bbox", "sub", "../outside.bbox")
    assert [look_up(name) for name in names] == [
        None,
        None,
        "no such file",
        "not a regular file",
        "outside the folder of the log",
    ]


def test_files_that_were_read_for_a_session() -> None:
    _, files = load_with_files(ROTATED)
    names = sorted(path.name for path in files)
    assert names == ["licence-audit.part1.bbox", "licence-audit.part2.bbox", "licence-audit.sub_1.bbox"]
