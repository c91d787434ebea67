"""`blackbird mem` and `blackbird evidence`: what agents and people ask of the memory."""

import json
from pathlib import Path

import pytest

from blackbird.artifacts.model import Type
from blackbird.doors import schema
from blackbird.doors.opening import dispatcher
from tests.blackbird.cli.command import Done, Place, place
from tests.blackbird.recall.kept import Kept


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("SESSION", "TASK", "RUN"):
        monkeypatch.delenv(f"BLACKBIRD_{name}", raising=False)
    return place(tmp_path, monkeypatch, capsys)


@pytest.fixture
def kept(here: Place, tmp_path: Path) -> Kept:
    assert here.home.path == tmp_path / "home"
    return Kept(tmp_path).record()


def objects(done: Done) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.usefixtures("kept")
def test_how_much_there_is(here: Place) -> None:
    told = here.run("mem")
    assert told.out.splitlines()[0].startswith("10 artifacts of 2 sessions: 1 constraint, 1 decision, ")
    assert told.code == 0


@pytest.mark.requirement("MEMCLI-01")
def test_a_search_prints_cards(here: Place, kept: Kept) -> None:
    told = here.run("mem", "search", "SQLite Postgres", "--session", "s1", "--task", "t1", "--type", "decision")
    (decision,) = kept.ids(kind=Type.DECISION)
    first, second, _, last = told.out.splitlines()
    assert first == f"{decision}  decision  Let's use SQLite instead of Postgres."
    assert second.startswith("    s1 · 2026-11-16 · score ")
    assert last.startswith("1 card of 1 artifact (session s1, task t1 first, only decision); ")
    assert last.endswith(" tokens")
    assert told.code == 0


@pytest.mark.requirement("MEMCLI-01", "SEARCH-06")
@pytest.mark.usefixtures("kept")
def test_a_search_for_programs(here: Place) -> None:
    *cards, searched = objects(here.run("mem", "search", "weather", "--session", "run_2", "--json", "-k", "2"))
    assert [card["schema"] for card in cards] == ["card/1", "card/1"]
    assert {card["session"] for card in cards} == {"s2"}
    assert all("why" not in card for card in cards)
    assert (searched["schema"], searched["session"], searched["found"]) == ("search/1", "s2", 2)
    explained = objects(here.run("mem", "search", "weather", "--json", "--explain"))
    assert all("why" in card for card in explained[:-1])
    assert "words 1" in here.run("mem", "search", "weather", "--explain").out


@pytest.mark.usefixtures("kept")
def test_an_empty_answer_says_what_was_searched_and_left_out(here: Place) -> None:
    told = here.run("mem", "search", "the", "lighthouse", "--session", "s2")
    assert told.code == 1
    assert told.out == (
        "Nothing was found for “the lighthouse”.\n"
        "0 cards of 4 artifacts (session s2); 0 tokens\n"
        "searched for any of these words: lighthouse; weighed: 0\n"
        "not searched for, as any text has them: the\n"
        "left out: 6 artifacts outside of session s2\n"
        "--everywhere searches all sessions\n"
    )
    assert objects(here.run("mem", "search", "lighthouse", "--json"))[0]["searched"] == 10
    assert "nothing was left to search for" in here.run("mem", "search", "?!").out


@pytest.mark.usefixtures("kept")
def test_words_that_stand_nowhere_are_told_with_the_cards(here: Place) -> None:
    told = here.run("mem", "search", "weather", "lighthouse", "--session", "s2").out.splitlines()
    assert told[-2] == "found nowhere there: lighthouse"
    assert told[-1].startswith("4 cards of 4 artifacts (session s2); ")
    *_, searched = objects(here.run("mem", "search", "weather", "lighthouse", "--json"))
    assert searched["nowhere"] == ["lighthouse"]


@pytest.mark.usefixtures("kept")
def test_a_very_long_question_is_cut_where_it_is_said_again(here: Place) -> None:
    question = "lighthouse " * 5000
    assert len(here.run("mem", "search", question).out) < 1000
    (searched,) = objects(here.run("mem", "search", question, "--json"))
    assert str(searched["text"]).endswith("lighthouse…")


def test_what_others_said_too_is_counted(here: Place, tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    for flight in (kept.one, kept.two):
        kept.say(flight, "Never delete a segment.", "I will not.")
    kept.save()
    told = here.run("mem", "search", "delete segment", "--type", "constraint").out.splitlines()
    assert told[1].startswith("    s2 · 2026-11-16 · 1 other said the same · score ")
    card, _ = objects(here.run("mem", "search", "delete segment", "--type", "constraint", "--json"))
    assert card["same"] == 1
    with dispatcher("mcp", has_one_asker=True) as tools:
        answer = tools.call("memory_search", {"query": "delete segment", "types": ["constraint"]})
    assert " · said 2 times] Never delete a segment." in answer.text


@pytest.mark.usefixtures("kept")
def test_a_command_of_a_run_means_its_session(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_SESSION", "s1")
    assert here.run("mem", "search", "harbour").code == 1
    assert here.run("mem", "search", "harbour", "--everywhere").code == 0
    assert here.run("mem", "search", "harbour", "--session", "s2").code == 0
    monkeypatch.setenv("BLACKBIRD_SESSION", "just-begun")
    assert "(all sessions)" in here.run("mem", "search", "harbour").out


def test_a_command_means_the_project_of_its_folder_as_a_tool_does(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quay" / "crane").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    kept = Kept(tmp_path)
    kept.book.state("run.start", "s1", "run_1", client="claude", cwd=str(tmp_path / "quay"))
    kept.book.state("run.start", "s2", "run_2", client="claude", cwd="/srv/sea")
    kept.say(kept.one, "Let's paint the lamp red.", "The lamp is red.")
    kept.say(kept.two, "Let's paint the boat blue.", "The boat is blue.")
    kept.save()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "(all sessions)" in here.run("mem", "search", "lamp").out
    monkeypatch.chdir(tmp_path / "quay" / "crane")
    assert "(1 session of this project)" in here.run("mem", "search", "lamp").out
    told = here.run("mem", "search", "boat")
    assert (told.code, told.out.splitlines()[-1]) == (1, "--everywhere searches all sessions")
    assert "(all sessions)" in here.run("mem", "search", "boat", "--everywhere").out
    with dispatcher("mcp", has_one_asker=True) as tools:
        answer = tools.call("memory_search", {"query": "boat"})
    assert answer.values["project"] == objects(here.run("mem", "search", "boat", "--json"))[-1]["project"] == 1
    assert answer.text.startswith("Nothing was found in this project; with everywhere, all sessions are searched.")


@pytest.mark.requirement("CONFIG-06")
def test_settings_and_variables_say_how_much(here: Place, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLACKBIRD_RETRIEVAL_K_DEFAULT", "1")
    assert len(objects(here.run("mem", "search", "SQLite segment", "--json"))) == 2
    assert len(objects(here.run("mem", "search", "SQLite segment", "--json", "-k", "2"))) == 3
    assert len(objects(here.run("mem", "related", kept.ids()[0], "--json"))) == 1
    monkeypatch.setenv("BLACKBIRD_RETRIEVAL_MAX_SNIPPET_TOKENS", "0")
    done = here.run("mem", "search", "SQLite", "--json")
    assert (done.code, done.error["code"]) == (2, "config")


@pytest.mark.requirement("MEMCLI-02", "SEARCH-08")
def test_an_artifact_is_printed_whole(here: Place, kept: Kept) -> None:
    here.run("derive")
    (decision,) = kept.ids(kind=Type.DECISION)
    told = here.run("mem", "get", decision[4:14])
    assert told.out.startswith("Let's use SQLite instead of Postgres.\n  artifact  " + decision)
    assert "\n  choice: SQLite\n" in told.out
    assert "word for word\n    │ Let's use SQLite instead of Postgres." in told.out
    assert told.out.splitlines()[-1].endswith(" tokens")
    whole = here.run("mem", "get", decision, "--json").json
    assert (whole["schema"], whole["id"], whole["cut"]) == ("artifact/1", decision, [])
    assert whole["provenance"][0]["proof"] == "found"


def test_what_was_cut_is_said(here: Place, kept: Kept) -> None:
    here.run("derive")
    kept.tamper("Postgres", "Postgres " + "or another " * 2000)
    (decision,) = kept.ids(kind=Type.DECISION)
    told = here.run("mem", "get", decision).out
    assert "! statement: " in told
    assert f"blackbird artifacts {decision} has the rest" in told
    assert len(told) < len(here.run("artifacts", decision).out)


@pytest.mark.requirement("SEARCH-09")
def test_what_has_to_do_with_it(here: Place, kept: Kept) -> None:
    here.run("derive")
    (decision,) = kept.ids(kind=Type.DECISION)
    near = objects(here.run("mem", "related", decision, "--json"))
    assert {each["schema"] for each in near} == {"neighbour/1"}
    assert all(each["relation"] for each in near)
    told = here.run("mem", "related", decision).out
    assert str(near[0]["id"]) in told
    assert told.splitlines()[-1].startswith(f"{len(near)} cards, ")


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["mem", "get", "art_nothing"], 1, "not_found"),
        (["mem", "get", "art_"], 2, "usage"),
        (["mem", "get", ""], 2, "usage"),
        (["mem", "related", "\x1b[31m" * 3], 1, "not_found"),
        (["mem", "search", "crane", "--session", "s9"], 1, "not_found"),
        (["mem", "search", "crane", "--type", "boat"], 2, "usage"),
        (["mem", "search", "crane", "-k", "0"], 2, "usage"),
        (["mem", "search"], 2, "usage"),
        (["evidence", "art_nothing"], 1, "not_found"),
        (["evidence", "art_nothing", "--raw"], 2, "usage"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_word_for_it(
    here: Place, arguments: list[str], code: int, word: str
) -> None:
    done = here.run(*arguments, "--json")
    assert (done.code, done.error["code"], done.out) == (code, word, "")
    assert "\x1b" not in done.err


@pytest.mark.requirement("METRICS-06")
def test_evidence_is_the_very_bytes(here: Place, kept: Kept) -> None:
    here.run("derive")
    (decision,) = kept.ids(kind=Type.DECISION)
    (piece,) = objects(here.run("evidence", decision, "--json"))
    assert (piece["schema"], piece["artifact"], piece["proof"]) == ("evidence/1", decision, "found")
    assert piece["quote"] == "Let's use SQLite instead of Postgres."
    assert piece["text"] == "Let's use SQLite instead of Postgres. Never delete a segment."
    told = here.run("evidence", decision[:12])
    assert told.code == 0
    assert (
        f"✓ 1  {piece['source']} request, bytes {piece['start']}–{piece['end']}: stands there word for word"
        in told.out
    )
    records = piece["records"]
    assert isinstance(records, list)
    for record in records:
        where = f"bytes {record['offset']}–{record['end']} of its file"
        assert f"    segment 1, record {record['sequence']}, {where}\n" in told.out
    assert told.out.endswith(f"    │ {piece['text']}\n")
    assert here.run("evidence", decision, "--raw").out == piece["text"]
    assert here.run("evidence", decision, "--piece", "2").code == 2


@pytest.mark.requirement("METRICS-06")
def test_evidence_that_is_not_what_was_written(here: Place, kept: Kept) -> None:
    here.run("derive")
    (decision,) = kept.ids(kind=Type.DECISION)
    record = next(each for each in kept.book.tracer.current.records if b"SQLite" in (each.payload or b""))
    kept.book.tracer.current.change(record.sequence, (record.payload or b"").replace(b"SQLite", b"SQLife"))
    kept.save()
    told = here.run("evidence", decision)
    assert told.code == 4
    assert "✗ 1  " in told.out
    assert "is not what was written: the quoted words do not stand there" in told.err
    assert here.run("evidence", decision, "--json").error["code"] == "integrity"


def test_evidence_that_is_gone(here: Place, kept: Kept) -> None:
    here.run("derive")
    (decision,) = kept.ids(kind=Type.DECISION)
    kept.book.tracer.save(kept.home.trace, gone=(1,))
    (kept.home.trace / "00000001.wal").unlink()
    told = here.run("evidence", decision)
    assert (told.code, "! 1  " in told.out) == (1, True)
    assert "no longer in the trace" in told.err


@pytest.mark.requirement("SEC-05")
def test_no_secret_leaves_by_a_command(here: Place, tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    secret = "HARBOUR-4711-CRANE"
    kept.say(kept.one, f"Let's use {secret} instead of Postgres.", f"I took {secret}.")
    kept.save()
    rule = "[[redaction.rule]]\nid = 'berth'\nkind = 'berth'\npattern = 'HARBOUR-[0-9]{4}-[A-Z]+'\n"
    here.home.config_file.parent.mkdir(parents=True, exist_ok=True)
    here.home.config_file.write_text(rule)
    here.run("derive")
    commands = [["mem", "search", "Postgres"], ["artifacts", "--all"], ["bundle", "s1"]]
    for identifier in kept.ids():
        commands += [["mem", "get", identifier], ["mem", "related", identifier], ["artifacts", identifier]]
        commands += [["evidence", identifier], ["evidence", identifier, "--raw"]]
    for command in commands:
        for more in ([], ["--json"]) if "--raw" not in command else ([],):
            done = here.run(*command, *more)
            assert done.code in (0, 1), command
            assert secret not in done.out + done.err, command
    assert "masked here by the rules of today" in here.run("evidence", kept.ids(kind=Type.DECISION)[0], "--raw").err


#: What an agent calls as a tool, and what whoever can only run commands types instead.
COMMANDS = {
    "memory_search": "mem search QUERY --session --task -k --type --everywhere",
    "memory_get": "mem get ID",
    "memory_related": "mem related ID -k",
    "memory_context_for_task": "mem context --task --session --describe --budget",
}


@pytest.mark.requirement("MEMCLI-04")
@pytest.mark.parametrize("tool", schema.BY_NAME)
def test_whoever_can_only_run_commands_gets_what_tools_give(here: Place, tool: str) -> None:
    group, name, *words = COMMANDS[tool].split()
    shown = here.run(group, name, "--help").out
    assert len(words) == len(schema.BY_NAME[tool].schema["properties"])
    assert [word for word in [*words, "--json"] if word not in shown] == []
