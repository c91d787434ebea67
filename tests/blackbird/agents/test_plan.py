"""What is set for a child, by client, mode and what the user had set."""

import json
from typing import Any

import pytest

from blackbird.agents import plan, table
from blackbird.agents.plan import Plan, Route, Situation
from blackbird.agents.table import Client
from blackbird.config import settings
from blackbox.errors import UsageError

HERE = "http://127.0.0.1:4141"
ROUTE = Route(HERE, None, "harbour", "crane", "run_1")
BASE = f"{HERE}/bb/harbour/crane/run_1"
IDS = {"BLACKBIRD_SESSION": "harbour", "BLACKBIRD_TASK": "crane", "BLACKBIRD_RUN": "run_1"}
KNOWN = settings.built_in_upstreams()
LOCAL = "127.0.0.1,localhost,::1"
FIRST_PARTY = {"_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL": "1"}
PROXY = "http://run_1:x@127.0.0.1:4141"
TRUSTED = dict.fromkeys(
    ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CODEX_CA_CERTIFICATE"],
    "/home/ca/bundle.pem",
)
FORWARD = {"HTTPS_PROXY": PROXY, "https_proxy": PROXY, "NO_PROXY": LOCAL, "no_proxy": LOCAL, **TRUSTED}


def client(name: str) -> Client:
    return next(each for each in table.clients() if each.name == name)


def make(name: str, environ: dict[str, str] | None = None, route: Route = ROUTE, **situation: Any) -> Plan:
    """The plan for a client, started by its name alone."""
    who = client(name)
    around = Situation(HERE, situation.pop("known", KNOWN), environ or {}, **situation)
    words = [who.programs[0] if who.programs else "python3", "work"]
    return plan.fill(plan.draft(who, around), route, words, environ or {}, bundle="/home/ca/bundle.pem")


def own(made: Plan) -> dict[str, str]:
    """The variables without the ids, which are always there."""
    assert {key: made.variables[key] for key in IDS} == IDS
    return {key: value for key, value in made.variables.items() if key not in IDS}


def test_other_programs_get_what_the_sdks_read() -> None:
    made = make("other")
    assert (made.mode, made.arguments, made.upstreams, made.notes) == ("reverse", ["python3", "work"], {}, [])
    assert own(made) == {
        "ANTHROPIC_BASE_URL": f"{BASE}/anthropic",
        "OPENAI_BASE_URL": f"{BASE}/openai/v1",
        "GOOGLE_GEMINI_BASE_URL": f"{BASE}/gemini",
        "OLLAMA_HOST": f"{BASE}/ollama",
        "LM_STUDIO_API_BASE": f"{BASE}/lmstudio/v1",
        "OPENAI_API_BASE": f"{BASE}/openai/v1",
        "OLLAMA_API_BASE": f"{BASE}/ollama",
        "GEMINI_API_BASE": f"{BASE}/gemini/v1beta",
        **FIRST_PARTY,
    }


def test_a_variable_without_its_upstream_is_left_out() -> None:
    assert list(own(make("other", known={"openai": "https://api.openai.com"}))) == [
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
    ]


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "qwen", "pi", "copilot"])
def test_clients_that_a_base_url_changes_get_a_proxy(name: str) -> None:
    made = make(name)
    assert made.mode == "forward"
    assert own(made) == FORWARD
    assert made.arguments == [client(name).programs[0], "work"]


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "aider", "llm", "mini", "other"])
def test_every_client_can_be_asked_to_go_forward(name: str) -> None:
    assert own(make(name, mode="forward")) == FORWARD


def test_claude_by_base_url() -> None:
    assert own(make("claude", mode="reverse")) == {"ANTHROPIC_BASE_URL": f"{BASE}/anthropic", **FIRST_PARTY}


@pytest.mark.parametrize("name", ["claude", "other"])
def test_another_host_is_no_first_party(name: str) -> None:
    made = make(name, {"ANTHROPIC_BASE_URL": "https://gateway.example"})
    assert FIRST_PARTY.keys() & made.variables.keys() == set()


def test_claude_with_a_base_url_in_its_file() -> None:
    setting = client("claude").files[0]
    made = make("claude", found=[(setting, "https://gateway.example/claude")])
    assert made.mode == "reverse"
    assert made.upstreams == {"anthropic": "https://gateway.example/claude"}
    words = ["--settings", json.dumps({"env": {"ANTHROPIC_BASE_URL": f"{BASE}/anthropic"}}, separators=(",", ":"))]
    assert made.arguments == ["claude", *words, "work"]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_base_url_in_a_file_is_told_without_our_words_for_it(name: str) -> None:
    made = make(name, found=[(client(name).files[-1], "https://gateway.example/x")], mode="forward")
    assert made.notes == ["your configuration leads to gateway.example: calls to it are not recorded in forward mode"]


def test_codex_by_base_url() -> None:
    made = make("codex", mode="reverse")
    assert own(made) == {}
    assert made.arguments == ["codex", "-c", f'openai_base_url="{BASE}/openai/v1"', "work"]


def test_codex_with_a_base_url_in_its_file() -> None:
    setting = client("codex").files[0]
    made = make("codex", found=[(setting, "https://gateway.example/openai/v1")])
    assert made.mode == "reverse"
    assert made.upstreams == {"openai": "https://gateway.example/openai"}
    assert made.arguments[2] == f'openai_base_url="{BASE}/openai/v1"'


def test_opencode_gets_its_configuration_inline() -> None:
    made = make("opencode", mode="reverse")
    assert own(made).keys() == {"OPENCODE_CONFIG_CONTENT"}
    providers = json.loads(made.variables["OPENCODE_CONFIG_CONTENT"])["provider"]
    assert {name: about["options"] for name, about in providers.items()} == {
        "anthropic": {"baseURL": f"{BASE}/anthropic/v1"},
        "openai": {"baseURL": f"{BASE}/openai/v1"},
        "google": {"baseURL": f"{BASE}/gemini/v1beta"},
    }


def test_opencode_keeps_what_the_user_had_put_there() -> None:
    theirs = {
        "theme": "dark",
        "provider": {
            "anthropic": {"options": {"apiKey": "sk-mine", "baseURL": "https://gateway.example/claude/v1"}},
            "local": {"npm": "x"},
        },
    }
    made = make("opencode", {"OPENCODE_CONFIG_CONTENT": json.dumps(theirs)})
    assert made.mode == "reverse"
    merged = json.loads(made.variables["OPENCODE_CONFIG_CONTENT"])
    assert merged["theme"] == "dark"
    assert merged["provider"]["local"] == {"npm": "x"}
    assert merged["provider"]["anthropic"]["options"] == {"apiKey": "sk-mine", "baseURL": f"{BASE}/anthropic/v1"}
    assert made.upstreams == {"anthropic": "https://gateway.example/claude"}
    assert "sk-mine" not in str(made.shown)


@pytest.mark.parametrize("text", ["{", "[]", "null"])
def test_opencode_with_a_configuration_that_is_none_gets_a_proxy(text: str) -> None:
    made = make("opencode", {"OPENCODE_CONFIG_CONTENT": text})
    assert made.mode == "forward"
    assert own(made) == FORWARD


def test_pi_takes_no_base_url() -> None:
    with pytest.raises(UsageError) as raised:
        make("pi", mode="reverse")
    assert raised.value.remedy == "leave --reverse out: pi takes base URLs from its own file alone"


def test_copilot_with_a_key_of_ones_own() -> None:
    made = make("copilot", {"COPILOT_PROVIDER_BASE_URL": "https://models.example/v1"})
    assert own(made) == {"COPILOT_PROVIDER_BASE_URL": f"{BASE}/copilot"}
    assert made.upstreams == {"copilot": "https://models.example/v1"}


@pytest.mark.parametrize("name", ["claude", "other"])
def test_a_base_url_of_the_user_becomes_the_upstream(name: str) -> None:
    made = make(name, {"ANTHROPIC_BASE_URL": "https://gateway.example/claude/"})
    assert made.mode == "reverse"
    assert made.variables["ANTHROPIC_BASE_URL"] == f"{BASE}/anthropic"
    assert made.upstreams == {"anthropic": "https://gateway.example/claude"}
    assert made.notes == ["ANTHROPIC_BASE_URL led to gateway.example, which this run's anthropic now stands for"]


def test_a_base_url_without_the_usual_path_keeps_its_own() -> None:
    made = make("other", {"OPENAI_BASE_URL": "https://gateway.example/api"})
    assert made.variables["OPENAI_BASE_URL"] == f"{BASE}/openai"
    assert made.upstreams == {"openai": "https://gateway.example/api"}
    assert "OPENAI_API_BASE" not in made.variables, "it was not set, and would lead elsewhere"


def test_two_base_urls_of_one_kind_are_two_upstreams() -> None:
    made = make("other", {"OPENAI_BASE_URL": "https://a.example/v1", "OPENAI_API_BASE": "https://b.example/v1"})
    assert made.upstreams == {"openai": "https://a.example", "openai-2": "https://b.example"}
    assert made.variables["OPENAI_BASE_URL"] == f"{BASE}/openai/v1"
    assert made.variables["OPENAI_API_BASE"] == f"{BASE}/openai-2/v1"


def test_the_same_base_url_twice_is_one_upstream() -> None:
    made = make("other", {"OPENAI_BASE_URL": "https://a.example/v1", "OPENAI_API_BASE": "https://a.example/v1"})
    assert made.upstreams == {"openai": "https://a.example"}


def test_an_upstream_by_hand_goes_before_the_environment() -> None:
    made = make(
        "other",
        {"OPENAI_BASE_URL": "https://a.example/api"},
        given={"openai": "https://b.example", "own": "http://c"},
    )
    assert made.upstreams == {"openai": "https://b.example", "own": "http://c"}
    assert made.variables["OPENAI_BASE_URL"] == f"{BASE}/openai/v1"


def test_a_base_url_of_the_recorder_is_no_upstream() -> None:
    made = make("claude", {"ANTHROPIC_BASE_URL": "http://localhost:4141/anthropic"}, mode="reverse")
    assert made.upstreams == {}
    assert made.variables["ANTHROPIC_BASE_URL"] == f"{BASE}/anthropic"


def test_a_run_in_a_run_keeps_the_upstreams_of_the_outer_one() -> None:
    outer = {"OPENAI_BASE_URL": f"{HERE}/bb/a/b/c/openai", "OPENAI_API_BASE": f"{HERE}/bbt/word/bb/a/b/c/openai-2/v1"}
    kept = {"openai": "https://gateway.example/api", "openai-2": "https://b.example"}
    made = make("other", outer, inherited=kept)
    assert made.upstreams == kept
    assert made.variables["OPENAI_BASE_URL"] == f"{BASE}/openai"
    assert made.variables["OPENAI_API_BASE"] == f"{BASE}/openai-2/v1"


def test_a_base_url_of_the_user_in_forward_mode_is_told() -> None:
    made = make("claude", {"ANTHROPIC_BASE_URL": "https://gateway.example"}, mode="forward")
    assert made.upstreams == {}
    assert made.notes == ["ANTHROPIC_BASE_URL leads to gateway.example: calls to it are not recorded in forward mode"]


@pytest.mark.parametrize(("before", "told"), [("http://proxy.example:3128", 1), (PROXY, 0)])
def test_a_proxy_of_the_user_that_is_replaced_is_told(before: str, told: int) -> None:
    made = make("claude", {"HTTPS_PROXY": before, "NO_PROXY": "intranet.example"})
    assert len(made.notes) == told
    assert made.variables["HTTPS_PROXY"] == PROXY
    assert made.variables["NO_PROXY"] == f"intranet.example,{LOCAL}"
    assert "no_proxy" not in made.variables


@pytest.mark.parametrize(
    ("entry", "told"),
    [("api.anthropic.com", 1), (".anthropic.com", 1), ("*", 1), ("anthropic.co,pi.anthropic.com", 0)],
)
def test_a_host_that_is_kept_from_the_recorder_is_told(entry: str, told: int) -> None:
    made = make("claude", {"NO_PROXY": entry}, hosts=frozenset({"api.anthropic.com"}))
    assert made.notes == ["your NO_PROXY names api.anthropic.com, so calls to it are not recorded"] * told


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {}),
        ({"HTTP_PROXY": "http://p"}, {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}),
        ({"all_proxy": "http://p", "no_proxy": "a, b"}, {"no_proxy": "a,b,127.0.0.1"}),
        ({"HTTP_PROXY": "http://p", "NO_PROXY": "x,127.0.0.1"}, {}),
        ({"HTTP_PROXY": "http://p", "NO_PROXY": "*"}, {}),
    ],
)
def test_a_base_url_on_this_machine_goes_past_proxies(environ: dict[str, str], expected: dict[str, str]) -> None:
    made = make("claude", environ, mode="reverse")
    assert {key: value for key, value in made.variables.items() if "proxy" in key.lower()} == expected


def test_the_token_is_in_what_is_set_and_not_in_what_is_shown() -> None:
    route = Route(HERE, "a-long-random-word", "harbour", "crane", "run_1")
    made = make("claude", mode="reverse", route=route)
    assert made.variables["ANTHROPIC_BASE_URL"] == f"{HERE}/bbt/a-long-random-word/bb/harbour/crane/run_1/anthropic"
    assert made.shown["ANTHROPIC_BASE_URL"] == f"{HERE}/bbt/…/bb/harbour/crane/run_1/anthropic"
    made = make("claude", route=route)
    assert made.variables["HTTPS_PROXY"] == "http://run_1:a-long-random-word@127.0.0.1:4141"
    assert made.shown["HTTPS_PROXY"] == "http://run_1:…@127.0.0.1:4141"
    assert "a-long-random-word" not in str(make("opencode", route=route, mode="reverse").shown)


@pytest.mark.parametrize(
    "words", [[], ["-p", "fix it"], ["fix it", "--model", "opus"], ["--print", "--output-format=json"], ["-p"]]
)
def test_claude_is_told_its_session_id(words: list[str]) -> None:
    assert plan.takes_session(client("claude"), words)
    around = Situation(HERE, KNOWN, {})
    drafted = plan.draft(client("claude"), around)
    made = plan.fill(drafted, ROUTE, ["claude", *words], {}, bundle="/b", native_session="an-id")
    assert made.arguments == ["claude", "--session-id", "an-id", *words]
    assert made.native_session == "an-id"


@pytest.mark.parametrize(
    "words",
    [
        ["-c"],
        ["--continue"],
        ["-r", "x"],
        ["--resume=x"],
        ["--session-id", "x"],
        ["--fork-session"],
        ["-pc"],
        ["mcp", "list"],
        ["--debug", "doctor"],
        ["--version"],
    ],
)
def test_claude_is_not_told_one_where_it_has_its_own(words: list[str]) -> None:
    assert not plan.takes_session(client("claude"), words)


@pytest.mark.parametrize("name", ["codex", "gemini", "other"])
def test_other_clients_take_no_session_id(name: str) -> None:
    assert not plan.takes_session(client(name), [])
