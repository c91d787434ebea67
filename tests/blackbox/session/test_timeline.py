"""Elapsed and wall-clock time, pauses; modes, phases and models, and where each is in force."""

import datetime as dt

import pytest

from blackbox.session.timeline import Period
from tests.blackbox.session.logs import FEATURE, IMPORT, NIGHT_SHIFT, read_session, session_of

TEN = dt.datetime(2025, 1, 1, 10, tzinfo=dt.UTC)


def test_an_earlier_session_is_no_part_of_the_time() -> None:
    session = session_of(
        "@start ts=2025-01-01T10:00:00Z\n"
        "u: Before extra.inherited=true ts=2024-12-31T10:00:00Z\n"
        "a: Now ts=2025-01-01T10:00:05Z\n"
    )
    assert (session.started_at, session.wall_time) == (TEN, dt.timedelta(seconds=5))


@pytest.mark.requirement("VIEW-05", "TIME-01", "TIME-02")
def test_elapsed_and_wall_time_of_each_line() -> None:
    session = session_of(
        "u: a\n# t=00:00:10\nu: b ts=2025-01-01T10:00:00Z\n# t=01:00:00\nu: c\nu: d ts=2025-01-01T12:30:00+01:00\n"
    )
    assert [session.elapsed_at(line) for line in session.lines] == [None, 10, 10, 3600, 3600, 3600]
    later = TEN + dt.timedelta(minutes=90)
    assert [session.time_at(line) for line in session.lines] == [None, None, TEN, TEN, TEN, later]
    assert session.elapsed == 3600
    assert (session.started_at, session.ended_at, session.wall_time) == (TEN, later, dt.timedelta(minutes=90))
    assert session.active_seconds == 5400


def test_times_out_of_order_and_unreadable() -> None:
    session = session_of("u: a ts=2025-01-01T10:00:05Z\nu: b ts=2025-01-01T10:00:00Z\nu: c ts=noon\n# t=soon\n")
    assert session.wall_time == dt.timedelta(seconds=5)
    assert session.elapsed is None


def test_one_time_is_no_duration() -> None:
    session = session_of("@start ts=2025-01-01T10:00:00Z\n")
    assert (session.started_at, session.wall_time, session.active_seconds) == (TEN, None, None)


@pytest.mark.requirement("VIEW-05", "LIFE-03", "LIFE-04")
def test_pause_by_wall_clock() -> None:
    session = session_of(
        '@start ts=2025-01-01T10:00:00Z\n@pause reason="waiting for CI" ts=2025-01-01T10:10:00Z\n'
        "@resume ts=2025-01-01T10:25:30Z\n@end ts=2025-01-01T11:00:00Z\n"
    )
    (pause,) = session.pauses
    assert (pause.line.number, pause.resumed and pause.resumed.number) == (2, 3)
    assert (pause.reason, pause.seconds) == ("waiting for CI", 930.0)
    assert session.wall_time == dt.timedelta(hours=1)
    assert session.active_seconds == 3600 - 930


@pytest.mark.requirement("LIFE-04")
def test_pause_by_marks() -> None:
    session = session_of("# t=08:00:00\n@pause reason=CI\n# t=08:45:00\n@resume\n# t=09:00:00\n")
    assert [pause.seconds for pause in session.pauses] == [2700.0]
    assert session.active_seconds == 9 * 3600 - 2700


def test_pause_that_lasts() -> None:
    body = "u: x ts=2025-01-01T10:00:00Z\n@pause ts=2025-01-01T10:10:00Z\n@notify x ts=2025-01-01T10:11:00Z\n"
    session = session_of(body)
    assert [(pause.resumed, pause.seconds) for pause in session.pauses] == [(None, 60.0)]
    assert session.active_seconds == 600


def test_pause_of_unknown_length_leaves_the_rest_unknown() -> None:
    session = session_of("u: x ts=2025-01-01T10:00:00Z\n@pause\n@resume\nu: y ts=2025-01-01T11:00:00Z\n")
    assert [pause.seconds for pause in session.pauses] == [None]
    assert session.active_seconds is None


def test_second_pause_and_stray_resume_change_nothing() -> None:
    session = session_of("@resume\n@pause reason=a\n@pause reason=b\n@resume\n@resume\n")
    assert [(pause.reason, pause.resumed and pause.resumed.number) for pause in session.pauses] == [("a", 4)]


def test_times_of_the_examples() -> None:
    night = read_session(NIGHT_SHIFT)
    assert (night.elapsed, night.wall_time, night.active_seconds) == (43200, dt.timedelta(hours=12), 38933.0)
    feature = read_session(FEATURE)
    assert (feature.elapsed, feature.wall_time, feature.active_seconds) == (1065, None, 1065)


def spans(periods: tuple[Period, ...]) -> list[tuple[str, int, int]]:
    return [(period.name, period.first.number, period.last.number) for period in periods]


@pytest.mark.requirement("PLANMODE-01", "PLANMODE-02", "PLANMODE-03", "PLANMODE-05", "QUEST-07")
def test_mode_and_phase_in_force_at_each_line() -> None:
    session = session_of(
        "u: a\nm: plan  # read-only\nu: b\n@phase explore\nu: c\n@phase dream\n@phase exit approved=true\nu: d\n"
        "m:auto afk=true\nu: e\nm:yolo\n@phase design\nm:chat\nu: f\n",
    )
    modes = [period.name if (period := session.mode_at(line)) else None for line in session.lines]
    assert modes == [None] + ["plan"] * 7 + ["auto"] * 2 + ["yolo"] * 2 + ["chat"] * 2
    phases = [period.name if (period := session.phase_at(line)) else None for line in session.lines]
    assert phases == [
        None,
        None,
        None,
        "explore",
        "explore",
        "dream",
        "exit",
        None,
        *[None] * 3,
        "design",
        None,
        None,
    ]
    assert [period.afk for period in session.modes] == [False, True, False, False]
    assert spans(session.modes) == [("plan", 2, 8), ("auto", 9, 10), ("yolo", 11, 12), ("chat", 13, 14)]


def test_header_sets_the_first_mode() -> None:
    session = session_of("u: a\nm:auto\n", mode="chat")
    assert spans(session.modes) == [("chat", 4, 4), ("auto", 5, 5)]
    assert [period.line and period.line.number for period in session.modes] == [None, 5]
    assert spans(session_of("m:auto\n", mode="chat").modes) == [("auto", 4, 4)]
    assert session_of("", mode="chat").modes == ()


@pytest.mark.requirement("PLANMODE-04")
def test_leaving_plan_mode() -> None:
    session = session_of("@phase exit approved=true swarm=true teammates=3\n")
    (period,) = session.phases
    assert spans(session.phases) == [("exit", 1, 1)]
    primitive = getattr(period.first.event, "primitive", None)
    assert (primitive.approved, primitive.swarm, primitive.teammates) == (True, True, 3)  # type: ignore[union-attr]


@pytest.mark.requirement("METRIC-09")
def test_model_in_force_at_each_line() -> None:
    session = session_of(
        '@init model=big-1\na: a\n# model: small reason="topic detection"\na: b\na: c model=other\na: d\n',
        model="big",
    )
    assert [session.model_at(line) for line in session.lines] == [
        "big-1",
        "big-1",
        "small",
        "small",
        "other",
        "small",
    ]
    assert [(use.model, use.source, use.line and use.line.number, use.reason) for use in session.models] == [
        ("big", "header", None, None),
        ("big-1", "init", 4, None),
        ("small", "switch", 6, "topic detection"),
        ("other", "message", 8, None),
    ]


def test_log_without_a_model() -> None:
    session = session_of("a: x\n")
    assert session.model_at(session.lines[0]) is None


def test_modes_and_models_of_the_examples() -> None:
    night = read_session(NIGHT_SHIFT)
    assert spans(night.modes) == [("auto", 32, 340), ("plan", 341, 417), ("auto", 418, 676), ("chat", 677, 692)]
    assert [period.afk for period in night.modes] == [False, False, True, False]
    assert spans(night.phases) == [
        ("explore", 345, 373),
        ("design", 374, 388),
        ("review", 389, 408),
        ("final", 409, 415),
        ("exit", 416, 416),
    ]
    assert [use.model for use in night.models] == [
        "gannet-3",
        "gannet-3-mini",
        "gannet-3",
        "gannet-3-max",
        "gannet-3",
    ]
    assert [(use.source, use.line and use.line.number) for use in read_session(IMPORT).models] == [
        ("header", None),
        ("message", 51),
    ]
