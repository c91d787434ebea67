"""The recorder, which is written in Rust, and this package find the very same secrets."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from blackbird.recorder import program
from blackbox.redaction.finders import EntropyFinder
from blackbox.redaction.redactor import Redactor
from blackbox.redaction.rules import Entropy, built_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the recorder is not built on Windows")

CORPUS = Path(__file__).parents[3] / "fixtures" / "redaction" / "corpus.txt"
_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\t": "\t", "\\\\": "\\"}


def in_rust(data: bytes, *options: str) -> tuple[bytes, str]:
    """What the installed recorder makes of `data`, and what it says of it."""
    done = subprocess.run([program.find(), "redact", *options], input=data, capture_output=True, check=True)
    return done.stdout, done.stderr.decode()


def in_python(data: bytes) -> tuple[bytes, str]:
    clean, counts = Redactor().redact_bytes(data)
    told = f"redacted {sum(counts.values())} by rules {Redactor().version}"
    kinds = " ".join(f"{kind}={count}" for kind, count in sorted(counts.items()))
    return clean, f"{told}: {kinds}\n" if kinds else f"{told}\n"


def assert_same_by_line(lines: list[bytes]) -> None:
    clean, _ = in_rust(b"\n".join(lines), "--lines")
    redactor = Redactor()
    differing = [
        (line, rust, python)
        for line, rust in zip(lines, clean.split(b"\n"), strict=True)
        if (python := redactor.redact_bytes(line)[0]) != rust
    ]
    assert differing == []


def corpus() -> list[str]:
    """The texts of the corpus: without the signs that say which part is a secret, and with escapes resolved."""
    lines = [line for line in CORPUS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("## ")]
    texts = [re.sub("⟦[a-z0-9_]+[|]", "", line).replace("⟧", "").replace("·", "") for line in lines]
    return [re.sub(r"\\.", lambda found: _ESCAPES[found[0]], text) for text in texts]


def test_the_recorder_has_the_rules_of_this_package() -> None:
    _, told = in_rust(b"")
    assert told == f"redacted 0 by rules {Redactor().version}\n", "run `make setup` to build the recorder anew"


@pytest.mark.requirement("REDACT-08")
def test_the_corpus_line_by_line() -> None:
    assert_same_by_line([line.encode() for text in corpus() for line in text.split("\n")])


@pytest.mark.requirement("REDACT-08")
def test_the_corpus_as_one_text() -> None:
    whole = "\n".join(corpus()).encode()
    assert in_rust(whole) == in_python(whole)


# Put together here, so that the file itself holds nothing that a scanner would take for a secret.
_TOKEN = b"gh" + b"p_" + b"a1B2c3D4e" * 4
_RANDOM = b"q7Xk2mP9vT4wZ8rB5nJ1cY6hL3gF0sDa" * 4
_PEM = b"-----BEG" + b"IN RSA PRIVATE KEY-----"

NASTY = {
    "nothing": b"",
    "no UTF-8": b"\xff\xfe" + _TOKEN + b"\x80 password=\xc3\x28abc\xff1x",
    "NUL": b"\x00" + _TOKEN + b"\x00password=\x00abc12345",
    "all bytes": bytes(range(256)) * 3 + _TOKEN,
    "every byte before a token": b"".join(bytes((byte,)) + _TOKEN for byte in range(256)),
    "every byte behind a password": b"".join(b"password=abc123" + bytes((byte,)) + b"x\n" for byte in range(256)),
    "all white space around": b"\x0b\x0c\r\t\n ".join(
        [b"password", b"=", b"secret1x", _TOKEN, b"token:", _RANDOM[:40]]
    ),
    "a very long line": b"x" * 300_000 + _TOKEN + b"y" * 300_000,
    "a very long value": b"password=" + b"a1" * 100_000,
    "many anchors": b"token secret password api_key " * 5_000,
    "many begins": _PEM * 200,
    "a secret in a secret": b'password="https://user:' + _TOKEN + b"@host/?token=" + _RANDOM[:32] + b'"',
    "a secret behind a secret": _TOKEN + _TOKEN + b"AKIA" + b"ABCDEFGHIJKLMNOP",
    "anchors in odd case": b"PaSsWoRd=abc123x; aPi_KeY: '" + _RANDOM[:30] + b"' GHP_" + _TOKEN[4:],
    "letters that fold beyond ASCII": "pa\u017f\u017fword=abc123x \u212aEY=abc123 tok\u00e9n=".encode()
    + _RANDOM[:32],
    "words of every length": b" ".join(_RANDOM[:length] for length in range(1, 128)),
    "words of few letters": b" ".join((b"aB1cD2eF3" * 20)[:length] for length in range(20, 120)),
    "a block without an end": _PEM + b"\n" + b"\n".join([b"MIIEpAIBAAKCAQEA" * 4] * 5) + b"\nrest",
    "a block beyond its limit": _PEM + b"\n" + b"A" * 64 + b"." * 20_000 + b"-----END RSA PRIVATE KEY-----",
    "a block in a JSON string": b'{"key": "' + _PEM + rb"\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n" + b'"}',
    "markers": b"[redacted:password] password=[redacted:password] [redacted:" + _TOKEN + b"]",
    "a marker in the place of a name": b'[redacted:api_key]="0a0aaaaa" api_key="0a0aaaaa"',
}


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.requirement("REDACT-08")
def test_nasty_texts(name: str) -> None:
    assert in_rust(NASTY[name]) == in_python(NASTY[name])


def test_the_rules_for_traffic() -> None:
    data = _TOKEN + b" " + _RANDOM[:40]
    clean, _ = in_rust(data, "--profile", "wire")
    assert clean == Redactor().for_profile("wire").redact_bytes(data)[0] == b"[redacted:github_token] " + _RANDOM[:40]


def test_a_class_switched_off() -> None:
    data = _TOKEN + b" postgres://anna:" + b"s3cr3tW0rd@host/db"
    clean, _ = in_rust(data, "--off", "keys", "--off", "entropy")
    assert clean == Redactor().without(("keys", "entropy")).redact_bytes(data)[0]
    assert clean.startswith(_TOKEN)


@pytest.mark.requirement("REDACT-08")
def test_the_terms_of_the_entropy() -> None:
    """The test `the_table_is_the_one_that_python_has` in crates/redact/src/entropy.rs asserts the same figure."""
    entry = Entropy(id="words", class_name="entropy", kind="word", alphabet="a", least=1, most=4096, bits=0)
    figure = 0
    for term in EntropyFinder(entry)._terms:
        figure = (figure * 31 + term) % 1_000_000_007
    assert figure == 453_070_553


def _odd_case(anchor: str, flips: int) -> str:
    return "".join(sign.swapcase() if flips >> place & 1 else sign for place, sign in enumerate(anchor))


def lines() -> st.SearchStrategy[bytes]:
    """Lines put together from what the rules look at."""
    anchors = st.sampled_from([anchor for item in built_in().items for anchor in getattr(item, "anchors", ())])
    letters = st.characters(codec="ascii", categories=("L", "N"))
    piece = st.one_of(
        anchors.map(str.encode),
        st.builds(_odd_case, anchors, st.integers(0, 255)).map(str.encode),
        st.text(letters, max_size=60).map(str.encode),
        st.integers(0, 101).map(lambda length: _RANDOM[:length]),
        st.text("0123456789abcdef", min_size=8, max_size=64).map(str.encode),
        st.text(" \t\r\x0b\x0c\"'=:@/.\\,;_-[](){}$<>~%&?*|", min_size=1, max_size=3).map(str.encode),
        st.binary(max_size=4),
        st.just(b"[redacted:password]"),
    )
    return st.lists(piece, max_size=12).map(lambda pieces: b"".join(pieces).replace(b"\n", b" "))


@pytest.mark.requirement("REDACT-08")
def test_generated_lines() -> None:
    """A process for each example would be slow, so that the examples are gathered first and sent as one text."""
    gathered: list[bytes] = []

    @settings(max_examples=500, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(lines())
    def gather(line: bytes) -> None:
        gathered.append(line)

    gather()
    assert_same_by_line(gathered)
