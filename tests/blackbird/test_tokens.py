"""How long texts are: the plain counter against exact values, and against the vocabularies it stands for."""

import importlib
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird import tokens
from blackbird.errors import ConfigError
from blackbird.tokens import Exact, Plain

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" ", 0),
        ("the", 1),
        ("Use SQLite for the index.", 8),
        ("retry_delay_ms", 5),
        ("camelCase HTTPServer", 6),
        ("src/blackbird/pack/budget.py", 11),
        ("[art_4ucdv2hl]", 10),
        ("art_4ucdv2hlmbo2tyhx", 14),
        ("3 passed, 1 failed in 0.12s", 15),
        ("def count(self, text: str) -> int:\n    return 0\n", 18),
        ("你好，世界", 7),
        ("Решение: не использовать кэш", 18),
        ("naïve café", 6),
        ("done 🎉", 5),
        ("a\x00b", 3),
    ],
)
def test_plain_counts(text: str, count: int) -> None:
    assert Plain().count(text) == count


def test_counters_are_named_with_a_version() -> None:
    assert (Plain().name, Exact().name) == ("plain/2", "o200k/rs-bpe-1")
    assert isinstance(tokens.counter("plain"), Plain)
    assert isinstance(tokens.counter("o200k"), Exact)
    assert isinstance(tokens.counter(), Plain)


def test_exact_counts_as_the_vocabulary_does() -> None:
    assert Exact().count("[art_4ucdv2hl] hello implementation") == 11
    assert Exact().count("half \ud800 of a pair") == 5


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", None)
    with pytest.raises(ConfigError, match="vocabulary is not installed") as caught:
        tokens.counter("o200k")
    assert "blackbird[tokens]" in caught.value.remedy


def passages(*patterns: str) -> list[str]:
    """The paragraphs of our own files, joined until they are as long as a section of a pack."""
    found: list[str] = []
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        under_way = ""
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            under_way += paragraph + "\n\n"
            if len(under_way) > 400:
                found.append(under_way[:1500])
                under_way = ""
    return found


@pytest.mark.parametrize(
    ("patterns", "median"),
    [(("docs/*.md", "docs/formats/*.md"), 1.1), (("src/blackbird/**/*.py",), 1.15), (("crates/**/*.rs",), 1.18)],
)
def test_plain_hardly_ever_counts_too_little_and_never_much_too_much(
    patterns: tuple[str, ...], median: float
) -> None:
    openai = importlib.import_module("rs_bpe.bpe").openai
    vocabularies = (openai.o200k_base(), openai.cl100k_base())
    counted = sorted(
        Plain().count(text) / max(vocabulary.count(text) for vocabulary in vocabularies)
        for text in passages(*patterns)
    )
    assert len(counted) > 100
    assert sum(share < 1 for share in counted) / len(counted) < 0.06
    assert counted[0] > 0.8
    assert counted[len(counted) // 2] < median


@given(st.lists(st.text(), max_size=6))
def test_lines_together_are_never_more_than_each_by_itself(lines: list[str]) -> None:
    parts = [line.replace("\n", " ").replace("\r", " ").strip() + "\n" for line in lines]
    counter = Plain()
    assert counter.count("".join(parts)) <= sum(counter.count(part) for part in parts)


@pytest.mark.parametrize("sign", ["Aa", "1", "a1", " ", "!?", "\n ", "é", "Ж", "世"])
def test_no_text_takes_longer_than_its_length(sign: str) -> None:
    began = time.perf_counter()
    assert Plain().count(sign * 200_000) >= 0
    assert time.perf_counter() - began < 5
