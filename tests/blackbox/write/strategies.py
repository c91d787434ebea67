"""Hypothesis strategies: any event a harness might log, in texts that try to look like something else."""

from hypothesis import strategies as st

from blackbox.events import Event, calls, comments, lifecycle, messages
from blackbox.syntax.results import Blob, Result
from blackbox.syntax.tokens import Value
from blackbox.write import results
from blackbox.write.spelling import todos_of

TRAPS = [
    *("", " ", "  ", "\t", "\n", "\r", "\r\n", "\\", "\\e", "\\n", '"', '""', "'", "→", " → ", "->"),
    *("=", ",", ":", ";", "#", " # ", " # metrics a=b", "# metrics step=3 prompt=5", "# metrics", "metrics "),
    *("notes:", "memory store=x", "id=5", "step=3", "ts=x", 'model="a b"', "tokens_in=4", "extra.k=v"),
    *("interrupted", "key=value", "reason=x", "[ok]", "[ok", "[err: x]", "[", "]", "{", "}", "[]", "[pending]"),
    *("[odd]", "[12 matches]", "[retry 2/3]", "[auto]", "@blob sha256=ab12", "@end", "u: hi", "t:read", "---"),
    *("[redacted:env]", "P0: x", "P1", "t=00:00:01", "budget: $5", "word", "two words", "\x00", "\x1b[31m"),
    *("\x7f", "\x85", "\u2028", "\xa0", "\u3000", "\ufeff", "\ud800", "\udc80", "é", "😀", "~", "$5"),
    *("tokens=1", "codex: {", "condense range=1-2", "anchor step=1", "claude: {}"),
]

texts = st.one_of(
    st.lists(st.sampled_from(TRAPS), max_size=6).map("".join),
    st.lists(st.sampled_from(TRAPS), max_size=6).map(" ".join),
    st.text(st.characters(exclude_categories=()), max_size=20),
)
names = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="→"), min_size=1, max_size=8)
counts = st.integers(0, 10**18 - 1)
amounts = st.decimals(min_value=-(10**9), max_value=10**9, places=4)
keys = st.one_of(
    st.sampled_from(["path", "model", "id", "options", "interrupted", "extra.x", "a b", 'q"', ""]), texts
)
values: st.SearchStrategy[Value] = st.one_of(texts, st.lists(texts, max_size=3).map(tuple))
arguments = st.builds(
    calls.Arguments, st.lists(values, max_size=3).map(tuple), st.dictionaries(keys, values, max_size=3)
)
meta_keys = st.one_of(
    st.sampled_from(
        ["id", "step", "ts", "tid", "span", "parent", "latency_ms", "level", "model", "sig", "tokens_in"]
    ),
    st.from_regex(r"extra\.[A-Za-z_.\-]{1,6}", fullmatch=True),
)
metas = st.one_of(
    st.dictionaries(meta_keys, texts, max_size=4),
    st.dictionaries(meta_keys, texts, min_size=1, max_size=3).map(lambda meta: meta | {"interrupted": ""}),
)
hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
mimes = st.sampled_from([None, "text/plain", "text/x-diff"])
plain_results: st.SearchStrategy[Result] = st.one_of(
    texts.map(results.text),
    texts.map(results.ok),
    texts.map(results.done),
    texts.map(results.err),
    texts.map(results.skip),
    st.sampled_from([results.running(), results.started(), results.pending()]),
    st.builds(results.retry, st.integers(0, 9), st.none() | st.integers(0, 9)),
    st.builds(results.count, counts, st.none() | texts.filter(lambda unit: bool(unit) and not unit[0].isdigit())),
    st.builds(results.lines, counts, texts),
    st.builds(results.blob, hashes, st.none() | counts, mimes),
    st.builds(lambda given: results.fields(**given), st.dictionaries(keys, values, max_size=3)),
)
choice_results = st.one_of(
    st.lists(texts, max_size=3).map(lambda given: results.selected(*given)),
    st.builds(
        lambda given, reason: results.auto(*given, reason=reason), st.lists(texts, max_size=2), st.none() | texts
    ),
)
any_results = st.none() | plain_results | choice_results
blobs = st.none() | st.builds(Blob, hashes, st.none() | counts, mimes)
metrics = st.builds(
    comments.Metrics,
    step=st.none() | counts,
    prompt_tokens=st.none() | counts,
    completion_tokens=st.none() | counts,
    cached_tokens=st.none() | counts,
    cost_usd=st.none() | amounts,
    completion_token_ids=blobs,
    prompt_token_ids=blobs,
    logprobs=blobs,
    extra=st.dictionaries(st.from_regex(r"[a-z_\-]{1,5}", fullmatch=True), texts, max_size=2),
    other=st.dictionaries(st.from_regex(r"x[a-z_\-]{1,5}", fullmatch=True), texts, max_size=2),
)


def _is_said(given: comments.Metrics) -> bool:
    return given != comments.Metrics()


some_metrics = metrics.filter(_is_said)
statuses = st.sampled_from(["pending", "in_progress", "completed", "cancelled", "blocked", "odd"])
metrics_like = st.sampled_from([" # metrics", " # metrics a=b", "\t# metrics \tstep=3 x.y-z=", "# metrics a=b\n"])
prose: st.SearchStrategy[Event] = st.one_of(
    st.builds(messages.Message, st.just("user"), texts),
    st.builds(messages.Message, st.just("agent"), texts, st.none() | some_metrics),
    st.builds(lambda text, end: messages.Message("agent", text + end), texts, metrics_like),
    st.builds(messages.Thinking, texts),
    st.lists(st.builds(messages.Todo, statuses, texts), max_size=3).map(todos_of),
)
answers = st.none() | choice_results | texts.map(results.answer) | st.just(results.pending())
servers = names.filter(lambda name: "." not in name)
call_events: st.SearchStrategy[Event] = st.one_of(
    st.builds(calls.ToolCall, names, arguments, any_results, st.sampled_from(["call", "start", "progress"])),
    st.builds(lambda s, m, a, r: calls.build_mcp(f"{s}.{m}", a, r), servers, names, arguments, any_results),
    st.builds(calls.build_observation, arguments, any_results),
    st.builds(calls.build_skill, names, arguments, any_results),
    st.builds(calls.build_plan, names, arguments, any_results),
    st.builds(calls.build_recall, arguments, any_results),
    st.builds(calls.build_subagent, names, arguments, any_results),
    st.builds(calls.build_mode, names, arguments, st.none() | texts),
    st.builds(calls.build_question, arguments, answers),
)
PRIMITIVES = [
    *("start", "checkpoint", "pause", "resume", "end", "assess", "notify", "wait-approval", "wait", "escalate"),
    *("batch", "snapshot", "rotate", "compact", "phase", "init", "something-new"),
]


@st.composite
def lifecycle_lines(draw: st.DrawFn) -> tuple[Event, dict[str, str]]:
    """A lifecycle event and its metadata, from which some primitives take fields."""
    name, given, meta = draw(st.sampled_from(PRIMITIVES)), draw(arguments), draw(metas)
    result = draw(any_results)
    primitive = lifecycle.build_primitive(name, given, meta, result)
    return lifecycle.Lifecycle(name, primitive, given, result, draw(st.none() | texts)), meta


seconds = st.integers(0, 10**4 * 3600 - 1)
remarks: st.SearchStrategy[Event] = st.one_of(
    st.builds(comments.Remark, texts),
    st.builds(comments.Note, texts),
    st.builds(comments.Status, texts),
    st.builds(lambda json: comments.RawEvent("codex", json), texts),
    st.builds(lambda json: comments.RawEvent("claude", "{" + json), texts),
    seconds.map(lambda s: comments.Elapsed(s, f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}")),
    some_metrics,
    st.builds(comments.Budget, st.none() | amounts, st.none() | amounts, st.none() | counts),
    st.builds(comments.ModelSwitch, texts.filter(bool), st.none() | texts),
    st.builds(comments.Condense, counts, counts, st.none() | texts),
    st.builds(comments.Anchor, counts, st.none() | texts),
    st.builds(comments.MemoryStore, texts, st.none() | texts),
    st.builds(comments.FileSnapshot, texts, st.none() | counts),
    st.builds(comments.QueueOperation, texts, st.none() | texts),
    st.builds(
        comments.Totals,
        tokens=st.none() | counts,
        tools=counts,
        duration=st.none() | texts,
        cost=st.none() | amounts,
        redactions=counts,
    ),
)

lines: st.SearchStrategy[tuple[Event, dict[str, str]]] = st.one_of(
    st.tuples(prose, metas), st.tuples(call_events, metas), lifecycle_lines(), st.tuples(remarks, st.just({}))
)
sessions = st.lists(lines, max_size=6)
