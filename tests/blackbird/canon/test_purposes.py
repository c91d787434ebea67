"""What requests were for, by what clients really send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Purpose, Settings
from blackbird.canon.purposes import LONGEST, classify, rules
from blackbird.canon.seen import Ask
from blackbird.sessions.links import Links

TURN = Ask(settings=Settings(model="m"), tools=("Bash",))
BARE = Ask(settings=Settings(model="m"))
COMPACT = (
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- You already have all the context you need.\n\n"
    "Your task is to create a detailed summary of the conversation so far, paying close attention to …"
)


def purpose(
    path: str = "/v1/messages",
    ask: Ask | None = TURN,
    *,
    method: str = "POST",
    first: str = "",
    last: str = "",
    system: str = "",
    links: Links = Links(),  # noqa: B008 - it is frozen
) -> Purpose:
    return classify(
        method=method, path=path, ask=ask, first_words=first, last_words=last, system_words=system, links=links
    )


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/v1/messages/count_tokens?beta=true", Purpose.COUNT),
        ("POST", "/v1beta/models/gemini-2.5-pro:countTokens", Purpose.COUNT),
        ("POST", "/v1/responses/input_tokens", Purpose.COUNT),
        ("GET", "/v1/models?client_version=0.166.0", Purpose.MODELS),
        ("GET", "/v1/models/claude-x", Purpose.MODELS),
        ("GET", "/api/tags", Purpose.MODELS),
        ("POST", "/api/show", Purpose.MODELS),
        ("POST", "/backend-api/codex/analytics-events/events", Purpose.TELEMETRY),
        ("POST", "/api/event_logging/batch", Purpose.TELEMETRY),
        ("POST", "/v1/traces", Purpose.TELEMETRY),
        ("POST", "/v1/metrics", Purpose.TELEMETRY),
        ("POST", "/v1/rgstr", Purpose.TELEMETRY),
        ("POST", "/v1internal:recordCodeAssistMetrics", Purpose.TELEMETRY),
        ("POST", "/v1/traces/ingest", Purpose.TELEMETRY),
        ("POST", "/backend-api/ps/mcp", Purpose.OTHER),
        ("GET", "/backend-api/wham/accounts/check", Purpose.OTHER),
        ("GET", "/v1/responses", Purpose.OTHER),
    ],
)
def test_by_the_path(method: str, path: str, expected: Purpose) -> None:
    assert purpose(path, None, method=method) is expected


def test_counting_is_known_to_a_dialect_as_well() -> None:
    assert purpose("/v1/messages/count_tokens") is Purpose.COUNT


def test_a_turn_is_what_a_dialect_knows() -> None:
    assert purpose() is Purpose.TURN
    assert purpose(ask=BARE, first="Fix the failing test.") is Purpose.TURN
    assert purpose("/telemetry/v1/messages") is Purpose.TURN
    assert purpose(ask=None) is Purpose.OTHER


@pytest.mark.parametrize(
    ("first", "last", "system"),
    [
        ("", "", "You are an agent.\nGenerate a concise, sentence-case title (3-7 words) that captures …"),
        ("Generate a title for this conversation:\n\n", '"Fix it"', "You are a title generator. You output ONLY …"),
        ("", "<session>\nFix it\n</session>\n\nWrite the title in the language the user wrote in, regardless …", ""),
        ("", "Summarize the user's primary intent or goal in this conversation in ONE sentence (max 80 …", ""),
    ],
)
def test_titles_by_their_words(first: str, last: str, system: str) -> None:
    assert purpose(ask=BARE, first=first, last=last, system=system) is Purpose.TITLE
    assert purpose(ask=TURN, first=first, last=last, system=system) is Purpose.TURN


def test_titles_by_the_schema_of_the_answer() -> None:
    hints = {"schema": ["title"]}
    assert purpose(ask=Ask(settings=Settings(), hints=hints)) is Purpose.TITLE
    assert purpose(ask=Ask(settings=Settings(), hints=hints, tools=("Bash",))) is Purpose.TURN
    assert purpose(ask=Ask(settings=Settings(), hints={"schema": ["title", "body"]})) is Purpose.TURN


@pytest.mark.parametrize(
    ("last", "system"),
    [
        (COMPACT, ""),
        ("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM …", ""),
        ("First, reason in your scratchpad. Then, generate the <state_snapshot>.", ""),
        ("", "You are the component that summarizes internal chat history into a given structure."),
        ("Provide a detailed prompt for continuing our conversation above.", ""),
        ("", "You are an anchored context summarization assistant for coding sessions."),
        ("", "*Briefly* summarize this partial conversation about programming."),
    ],
)
def test_compactions(last: str, system: str) -> None:
    assert purpose(ask=TURN, last=last, system=system) is Purpose.COMPACTION
    assert purpose(ask=BARE, last=last.upper().replace(" ", " \n"), system=system) is Purpose.COMPACTION


def test_the_turn_after_a_compaction_is_none() -> None:
    summary = "This session is being continued from a previous conversation that ran out of context. …\n"
    assert purpose(last=summary + "All user messages: - " + COMPACT) is Purpose.TURN
    assert purpose(last="x" * 900 + COMPACT) is Purpose.TURN


def test_memory_and_commits() -> None:
    memory = "You are now acting as the managed memory extraction subagent for an AI coding assistant."
    assert purpose(system=memory) is Purpose.MEMORY
    forked = "You are now acting as the memory extraction subagent. Analyze the most recent ~9 messages above …"
    assert purpose(last=forked) is Purpose.MEMORY
    assert purpose(first="## Memory Writing Agent: Phase 2 (Consolidation)\n…") is Purpose.MEMORY
    commit = "You are an expert software engineer that generates concise, one-line Git commit messages based on …"
    assert purpose(ask=BARE, system=commit) is Purpose.COMMIT
    assert purpose(ask=BARE, first="Write a commit message and a short title for this.") is Purpose.TURN


def test_sub_agents() -> None:
    assert purpose(links=Links(kind="collab_spawn", parent="t0")) is Purpose.SUBAGENT
    assert purpose(links=Links(parent="t0")) is Purpose.SUBAGENT
    block = "x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cc_is_subagent=true;"
    assert purpose(system=block) is Purpose.SUBAGENT
    assert purpose(links=Links(kind="compact")) is Purpose.COMPACTION
    assert purpose(links=Links(kind="memory_consolidation")) is Purpose.MEMORY
    assert purpose("/v1/responses/compact") is Purpose.COMPACTION


def test_a_warm_up_wants_no_answer() -> None:
    idle = Ask(settings=Settings(model="m"), tools=("Bash",), is_idle=True)
    assert purpose("/v1/responses", idle, method="GET") is Purpose.WARMUP
    assert purpose("/v1/responses", idle, links=Links(parent="t0")) is Purpose.WARMUP
    assert purpose("/v1/responses", TURN, method="GET") is Purpose.TURN


def test_other_questions_of_clients() -> None:
    assert purpose(ask=Ask(settings=Settings(max_tokens=1)), first="quota") is Purpose.OTHER
    router = Ask(settings=Settings(), hints={"schema": ["next_speaker", "reasoning"]})
    assert purpose(ask=router) is Purpose.OTHER
    assert purpose(last="[SUGGESTION MODE: Suggest what the user might naturally type next.]") is Purpose.OTHER
    assert purpose(last="Why do you say [SUGGESTION MODE: x]?") is Purpose.TURN
    assert purpose(ask=BARE, first="Web page content:\n---\n# Hello") is Purpose.OTHER


def test_the_table_is_written_as_it_is_compared() -> None:
    for rule in rules():
        for phrase in (*rule.system, *rule.first, *rule.last, *rule.unless):
            assert phrase == " ".join(phrase.lower().split())
        assert len(phrase := max((*rule.system, *rule.first, *rule.last, ""), key=len)) + rule.within < LONGEST, (
            phrase
        )


@given(st.text(), st.text(), st.text(), st.text(), st.sampled_from([None, TURN, BARE]))
def test_any_words_have_a_purpose(path: str, first: str, last: str, system: str, ask: Ask | None) -> None:
    assert isinstance(purpose(path, ask, first=first, last=last, system=system), Purpose)
