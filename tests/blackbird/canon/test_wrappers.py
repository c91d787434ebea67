"""A user's words are told from what clients put around them, and never taken for it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blackbird.canon.model import Origin, Role
from blackbird.canon.wrappers import PACK_TAG, Piece, bare, is_summary, mark_of, split, typed

REMINDER = "<system-reminder>\nToday's date is 2026-11-16.\n</system-reminder>"
PACK = f'<{PACK_TAG} session="s1">\nadd() must not subtract.\n</{PACK_TAG}>'


def read(text: str, role: Role = Role.USER) -> list[tuple[str, str]]:
    """The pieces of a text as origin and words, after a look at whether they cover it."""
    pieces = split(text, role)
    assert "".join(text[piece.first : piece.last] for piece in pieces) == text
    assert all(piece.last > piece.first for piece in pieces)
    return [(piece.origin.value, text[piece.first : piece.last].strip()) for piece in pieces]


def words(text: str) -> list[str]:
    """What a user said."""
    return [said for origin, said in read(text) if origin == "user"]


@pytest.mark.requirement("CANON-12")
@pytest.mark.parametrize(
    "wrapper",
    [
        REMINDER,
        "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n</session_context>",
        "<hook_context>seen</hook_context>",
        "<environment_context>\n  <cwd>/home/dev/job</cwd>\n  <shell>bash</shell>\n</environment_context>",
        "<user_instructions>\n\nUse tabs.\n\n</user_instructions>",
        "<skills_instructions>\n## Skills\n</skills_instructions>",
        "<permissions instructions>\nNo sandbox.\n</permissions instructions>",
        "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>",
        "<command-name>/exit</command-name>\n   <command-args></command-args>",
        "<command-name>/fix</command-name><command-args>all</command-args>",
        "<local-command-stdout>Bye!</local-command-stdout>",
        "<ide_opened_file>The user opened the file a.py in the IDE.</ide_opened_file>",
        '<ide_selection file="a.py">\nx = 1\n</ide_selection>',
        "# AGENTS.md instructions for /home/dev/job\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        "Here is the user's editor context as a JSON object. This is for your information only.\n```json\n{}\n```\n",
        "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:",
    ],
)
def test_a_wrapper_in_front_of_a_users_words(wrapper: str) -> None:
    assert words(wrapper) == []
    assert words(f"{wrapper}\nFix the test.\n\nThen stop.") == ["Fix the test.\n\nThen stop."]
    assert {origin for origin, _ in read(wrapper)} == {"client"}


@pytest.mark.requirement("CANON-12")
@pytest.mark.parametrize(
    "text",
    [
        "This is the Gemini CLI. We are setting up the context for our chat.\nMy operating system is: linux",
        "This is the Qwen Code. We are setting up the context for our chat.\nMy operating system is: linux",
        "[Request interrupted by user]",
        "Here are summaries of some files present in my git repository.\nDo not propose changes.\n\ncalc.py:\n⋮",
        "Base directory for this skill: /home/dev/skills/review\n\n# Review",
        "\u200b\u200c\u200d\u2060Continue with the prior task using the context above.",
    ],
)
def test_what_a_client_says_in_a_users_name(text: str) -> None:
    assert read(text) == [("client", text.strip())]


@pytest.mark.requirement("CANON-12")
def test_a_turn_that_no_model_said() -> None:
    assert read("Got it. Thanks for the context!", Role.ASSISTANT) == [("client", "Got it. Thanks for the context!")]
    assert read("Got it. Thanks!", Role.ASSISTANT) == [("agent", "Got it. Thanks!")]
    assert read(REMINDER, Role.ASSISTANT) == [("agent", REMINDER)]


@pytest.mark.requirement("CANON-12")
@pytest.mark.parametrize(
    ("text", "around"),
    [
        (PACK, []),
        (
            f"<system-reminder>\nSessionStart hook additional context: {PACK}\n</system-reminder>",
            ["client", "client"],
        ),
        (f"<hook_context>{PACK.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>", ["client", "client"]),
    ],
)
def test_our_own_pack_bare_and_within_what_a_client_wraps_around_it(text: str, around: list[str]) -> None:
    pieces = read(f"{text}\nFix the test.")

    assert [origin for origin, _ in pieces] == [*around[:1], "pack", *around[1:], "user"]
    assert [said.replace("&lt;", "<").replace("&gt;", ">") for origin, said in pieces if origin == "pack"] == [PACK]
    assert pieces[-1] == ("user", "Fix the test.")


@pytest.mark.requirement("CANON-12")
def test_our_own_pack_in_a_system_prompt() -> None:
    assert read(f"Be good. {PACK}\nBe brief.", Role.SYSTEM) == [
        ("system", "Be good."),
        ("pack", PACK),
        ("system", "Be brief."),
    ]
    hook = f"SessionStart hook additional context: {PACK}\n\nAvailable agent types for the Agent tool:\n- claude"
    assert read(hook, Role.SYSTEM) == [
        ("client", "SessionStart hook additional context:"),
        ("pack", PACK),
        ("system", "Available agent types for the Agent tool:\n- claude"),
    ]
    assert read(f"SessionEnd hook additional context: Bye.\n\nToken usage: 1\n{PACK}", Role.SYSTEM)[1:] == [
        ("system", "Token usage: 1"),
        ("pack", PACK),
    ]
    assert read(f"A pack starts with <{PACK_TAG}>.", Role.SYSTEM) == [("system", f"A pack starts with <{PACK_TAG}>.")]


@pytest.mark.requirement("CANON-12")
def test_what_hooks_say_among_a_systems_paragraphs() -> None:
    listing = "The following skills are available for use with the Skill tool:\n\n- review: Looks twice."
    session = "SessionStart hook additional context: Use tabs.\n\nNot two spaces."
    tool = "PostToolUse:mcp__files__read hook additional context: Read it all."
    text = f"Be good.\n\n{session}\n\n{listing}\n\n{tool}"

    assert read(text, Role.SYSTEM) == [
        ("system", "Be good."),
        ("client", session),
        ("system", listing),
        ("client", tool),
    ]
    assert read(f"{tool}\n\n{session}", Role.SYSTEM) == [("client", tool), ("client", session)]
    assert read(f"A line says: {session}", Role.SYSTEM) == [("system", f"A line says: {session}")]
    assert read(session) == [("user", session)]


@pytest.mark.parametrize(
    "text",
    [
        "Use tabs.",
        "PostToolUse:Read hook additional context: Use tabs.",
        "<system-reminder>\nSessionStart hook additional context: Use tabs.\n</system-reminder>\n",
        "<hook_context>Use tabs.</hook_context>",
        "<system-reminder>\nUse tabs.",
        "Use tabs.\n</system-reminder>",
    ],
)
def test_what_a_client_adds_is_the_same_without_its_tag_and_its_label(text: str) -> None:
    assert bare(text).strip() == "Use tabs."


def test_tags_and_labels_alone_say_nothing() -> None:
    assert bare("<system-reminder>\nSessionStart hook additional context: ").strip() == ""
    assert bare("\n</system-reminder>\n").strip() == ""
    assert bare("a < b and <c> d") == "a < b and <c> d"


@pytest.mark.parametrize(
    "text",
    [
        "This session is being continued from a previous conversation that ran out of context.",
        "Another language model started to solve this problem and produced a summary of its thinking process: add()",
        "<state_snapshot>\n<overall_goal>fix add()</overall_goal>\n</state_snapshot>",
        "The conversation history before this point was compacted into the following summary:\n\n<summary>…",
        f"{REMINDER}\n\nThis session is being continued from a previous conversation that ran out of context.",
    ],
)
def test_what_is_left_of_an_earlier_part(text: str) -> None:
    assert is_summary(text)
    assert read(text)[-1][0] == "summary"
    assert words(text) == []


@pytest.mark.requirement("CANON-12")
@pytest.mark.parametrize(
    "text",
    [
        "What does <system-reminder> mean, and </system-reminder>?",
        "<system-reminder> is a tag. What is it for?",
        "<system-reminder>x</system-reminder> is what I see. Why?",
        "The log says <system-reminder>x</system-reminder>",
        "Strip this:\n\n```xml\n<system-reminder>\nx\n</system-reminder>\n```\n\nIn all files.",
        "Strip this:\n~~~~\n```\n<system-reminder>\nx\n</system-reminder>\n~~~~",
        "Never closed:\n```\n<system-reminder>\nx\n</system-reminder>",
        "Explain:\n<system-reminder>\nit has no end",
        "<system-reminder> it has no end\nbut words on its line",
        "<div>\n<p>words</p>\n</div>",
        "# AGENTS.md instructions are too long. Shorten them.",
        "Why does it say [Request interrupted by user] here?",
        "Tell me what 'This session is being continued from a previous conversation' means.",
    ],
)
def test_words_about_wrappers_stay_the_users(text: str) -> None:
    assert split(text, Role.USER) == [Piece(Origin.USER, 0, len(text))]
    assert not is_summary(text)


def test_a_tag_that_a_user_mentions_does_not_reach_to_the_end_of_a_later_wrapper() -> None:
    for mention in ("<system-reminder> is a tag.", "<system-reminder>x</system-reminder> is what I see."):
        assert words(f"{mention}\nWhat is it for?\n\n{REMINDER}") == [f"{mention}\nWhat is it for?"]


def test_a_wrapper_that_holds_one_of_its_kind_or_its_name() -> None:
    inner = (
        f"<system-reminder>\nRules:\n```\n{REMINDER}\n```\nThe tag </system-reminder> ends it.\n</system-reminder>"
    )

    assert words(f"{inner}\nFix the test.") == ["Fix the test."]


def test_a_wrapper_that_was_cut_off_and_has_the_text_for_itself() -> None:
    assert read("<skills_instructions>\n## Skills\n…") == [("client", "<skills_instructions>\n## Skills\n…")]


def test_the_words_within_a_tag_that_says_they_are_the_users() -> None:
    text = "<user_info>\nOS: linux\n</user_info>\n<user_query>\nFix the test.\n</user_query>"

    assert words(text) == ["Fix the test."]


def test_words_right_behind_what_an_editor_says() -> None:
    assert words("<ide_opened_file>a.py</ide_opened_file>Fix the test.") == ["Fix the test."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<command-name>/fix</command-name>\n<command-args>all of it</command-args>", "/fix all of it"),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>", "/review"),
        ("<bash-input>ls -l</bash-input>", "!ls -l"),
        ("Fix the test.", None),
        ("See <command-name>/fix</command-name>", None),
        ("<command-name>/fix</command-name> is what I mean", None),
        ("<command-name>fix</command-name> <command-args></command-args>\n", "/fix"),
        ("<command-message>review</command-message>", None),
    ],
)
def test_what_a_user_typed_for_a_command(text: str, expected: str | None) -> None:
    found = typed(text)
    assert (found.words if found is not None else None) == expected
    if found is not None:
        assert all(found.words[at : at + last - first] == text[first:last] for at, first, last in found.places)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" [Request interrupted by user]\n", "interrupt"),
        ("[Request interrupted by user for tool use]", "interrupt"),
        ("[Request interrupted by user] and so on", None),
        ("--- End of content ---", None),
    ],
)
def test_what_a_client_s_words_tell_of(text: str, expected: str | None) -> None:
    assert mark_of(text) == expected


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<`~#\u200b"), min_size=1, max_size=40)
BLOCKS = st.sampled_from([REMINDER, PACK, "<hook_context>seen</hook_context>", "<turn_aborted>\nx\n</turn_aborted>"])


@given(before=st.lists(BLOCKS, max_size=2), said=WORDS, after=st.lists(BLOCKS, max_size=2))
@example(before=[REMINDER], said="x", after=[PACK])
def test_any_words_come_back_from_between_wrappers(before: list[str], said: str, after: list[str]) -> None:
    text = "\n".join([*before, said, *after])
    pieces = split(text, Role.USER)

    assert [piece.first for piece in pieces] == [0, *(piece.last for piece in pieces[:-1])]
    assert pieces[-1].last == len(text)
    own = "".join(text[piece.first : piece.last] for piece in pieces if piece.origin is Origin.USER)
    assert own.strip() == said.strip()


TORN = [
    "<system-reminder>",
    "</system-reminder>",
    "\n",
    "\n\n",
    "```",
    "x",
    " ",
    PACK,
    "Stop hook additional context:",
]


@given(st.lists(st.sampled_from([*TORN, "Token usage:"]), max_size=24))
def test_any_text_is_covered_once(parts: list[str]) -> None:
    text = "".join(parts)
    for role in Role:
        read(text, role)
