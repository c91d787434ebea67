"""Strategies for text that looks like a log: the grammar's own pieces in any order, right or wrong."""

from hypothesis import strategies as st

from blackbox.document.line import Line
from blackbox.syntax.kinds import PREFIXES, classify

PREFIXED = sorted(
    {*PREFIXES.values(), " t:", " u:", "t:read", "x:explore", "c:forge.pr", "@start", "@end", "m: ", "z:"}
)
KEYS = sorted(
    {"id", "step", "ts", "tid", "span", "parent", "attempt", "level", "sig", "tokens_in", "tokens_before", "extra.a"}
    | {"extra.", "path", "reason", "options", "a.b-c", "grid", "model", "latency_ms", "summary", "1st", "é"}
)
WORDS = ["a", "src/x.py", "interrupted", "...", "[ok]", "[err: no]", "[12 lines]", "[selected: A, B]", "@blob", "5"]
MARKS = [
    '"',
    '"',
    '""',
    "→",
    " → ",
    "->",
    "=",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\\",
    '\\"',
    "\\\\",
    "\\s",
    "\\x41",
    "#",
]
MORE_MARKS = [
    " # ",
    " # metrics a=1",
    "(",
    "$",
    "\r",
    "\t",
    "\0",
    "\x1b[31m",
    "\u2028",
    "\x85",
    "\ufeff",
    "\udc80",
    "é",
]

spaces = st.sampled_from([" ", " ", " ", "  ", "\t", "", " \r "])
pairs = st.builds(
    lambda key, open_, value, close: f"{key}={open_}{value}{close}",
    st.sampled_from(KEYS),
    st.sampled_from(["", "", '"', "[", "{"]),
    st.sampled_from(["x", "7", "2/3", "a b", "2025-01-02T03:04:05Z", "", "C:\\dir", "p, q", "id=9 z", '"', "→"]),
    st.sampled_from(["", "", '"', "]", "}", '"x']),
)
pieces = st.one_of(pairs, st.sampled_from(WORDS + MARKS + MORE_MARKS), st.text(max_size=3))
#: Everything behind a prefix.
bodies = (
    st.lists(st.builds("{}{}".format, spaces, pieces), max_size=8).map("".join).map(lambda s: s.replace("\n", ""))
)
#: One physical line.
sources = st.builds("{}{}".format, st.sampled_from([*PREFIXED, "", "  ", "\t"]), bodies)
#: Runs of words and quotes alone: where quotes open and close decides everything.
quoted = st.lists(st.sampled_from(["a", "id=5", "x=", "k=v", '"', '"', " ", "→", ",", "[", "]"]), max_size=16).map(
    "".join
)


def line_of(source: str, *, escaped: bool = False) -> Line:
    """An entry of one physical line."""
    return Line(classify(source), 1, source, escaped)


lines = st.builds(lambda source, escaped: line_of(source, escaped=escaped), sources, st.booleans())
header_lines = st.one_of(
    st.sampled_from(
        ["---", "--- ", "format: bbox/1", "id: a", "repo_sha: 12e4", "escape: 1", "", "# c", "skills: [a, b]"]
    ),
    st.builds("{}: {}".format, st.sampled_from(["a", "id", "x.y", "_", "é"]), bodies),
)
#: A whole log as text: header or not, body, ends of every kind.
logs = st.builds(
    lambda bom, head, body, end: bom + end.join([*head, *body]) + (end if len(body) % 2 else ""),
    st.sampled_from(["", "", "\ufeff"]),
    st.one_of(
        st.just([]),
        st.just(["---", "format: bbox/1", "id: s", "repo_sha: 1a2b3c4", "---"]),
        st.just(["---", "escape: 1", "---"]),
        st.lists(header_lines, max_size=6).map(lambda lines: ["---", *lines]),
    ),
    st.lists(st.one_of(sources, st.just("")), max_size=10),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
log_bytes = st.one_of(logs.map(lambda text: text.encode(errors="surrogatepass")), st.binary(max_size=200))
