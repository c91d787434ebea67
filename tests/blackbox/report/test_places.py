"""Places of lines in sessions of several logs."""

from blackbox.report.places import Place, family_of
from blackbox.session.load import load_session
from tests.blackbox.session.logs import ROTATED, session_of


def test_place_in_words() -> None:
    assert [str(Place(4)), str(Place(4, 2)), str(Place(4, None, "sub_1"))] == ["4", "2:4", "sub_1/4"]


def test_session_of_one_part_has_plain_numbers() -> None:
    (member,) = family_of(session_of("u: one\n"))
    assert member.place(member.session.lines[0]) == Place(1)


def test_parts_and_sub_agents_are_told_apart() -> None:
    session = load_session(ROTATED)
    main, sub = family_of(session)
    assert main.place(session.lines[-1]).part == 2
    assert (sub.agent, sub.place(sub.session.lines[0]).part) == ("sess_licence_audit_sub_1", None)
