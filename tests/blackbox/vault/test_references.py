"""Which blobs a text mentions."""

import pytest

from blackbox.vault.references import Mention, Names, mentions

HASH = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"t:read → @blob sha256={HASH} bytes=48219 mime=text/plain", [Mention(HASH, 48219, "text/plain", True)]),
        ("t:read → [ok] @blob sha256=0123ab bytes=7", [Mention("0123ab", 7, None, True)]),
        ("o: → @blob sha256=0123AB…", [Mention("0123ab", None, None, True)]),
        (f"# metrics step=1 logprobs=@blob sha256={HASH} bytes=5 mime=a/b", [Mention(HASH, 5, "a/b", True)]),
        (f'{{"blob":{{"sha256":"{HASH}","bytes":5}}}}', [Mention(HASH)]),
        (f'{{"sha256" : "{HASH}"}}', [Mention(HASH)]),
        (f'"{{\\"sha256\\":\\"{HASH}\\"}}"', [Mention(HASH)]),
        (f"see {HASH}.", [Mention(HASH)]),
        (f"{HASH}0", []),
        (f"sha256={HASH}0", []),
        ("sha256=xyz and no more", []),
        (f"a sha256=ab1234 b sha256={HASH}", [Mention("ab1234"), Mention(HASH)]),
    ],
)
def test_forms_of_a_mention(text: str, expected: list[Mention]) -> None:
    assert mentions(text) == expected


def test_blobs_are_found_by_their_first_digits() -> None:
    names = Names([HASH, "ab" + HASH[2:], "ac" + HASH[2:]])
    assert list(names.matching(HASH)) == [HASH]
    assert list(names.matching("a")) == ["ab" + HASH[2:], "ac" + HASH[2:]]
    assert list(names.matching("f" * 64)) == []
    assert list(names.matching("ff")) == []
