"""Forms are told apart by what is in them."""

import pytest

from blackbox.formats.recognise import Form, recognise

HEADER = b"---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\n---\n"


@pytest.mark.requirement("COMPACT-02", "JSONL-05")
@pytest.mark.parametrize(
    ("data", "form"),
    [
        (HEADER + b"\nu: hi\n", Form.BBOX),
        (HEADER, Form.BBOX),
        (b"u: hi\na: ho\n", Form.BBOX),
        (b"# only a comment\n", Form.BBOX),
        (HEADER.replace(b"bbox/1", b"rlog/1") + b"u: hi\n", Form.RLOG),
        (HEADER + "u:hi\nt:read a→[3]\n".encode(), Form.COMPACT),
        (HEADER + "t:read a→[3]\n".encode(), Form.COMPACT),
        (b"u:hi\na:ho\n", Form.COMPACT),
        (HEADER + "u:hi\nt:read a → [3]\n".encode(), Form.BBOX),
        (HEADER + b"u:hi\n  more\n", Form.BBOX),
        (b'{"t":"u","c":"hi"}\n', Form.JSONL),
        (b'\xef\xbb\xbf{"t":"---","v":{}}\n', Form.JSONL),
        (b'{torn\n{"t":"u","c":"hi"}\n', Form.JSONL),
        (b'{"type":"user","message":{"content":"hi"}}\n', Form.COMPANION),
        (b'{"type":"header","session_id":"sub-1"}\n', Form.COMPANION),
        (b'{"a":1}\n', None),
        (b"{", None),
        (b"", None),
        (b"\n\n", None),
        (b"\x00\x01\x02\xff", None),
        (b"\x89PNG\r\n\x1a\n\x00", None),
        (b"Dear reader,\nu: is a letter\nand so is this.\n", None),
    ],
)
def test_form(data: bytes, form: Form | None) -> None:
    assert recognise(data) is form


def test_a_long_line_at_the_end_of_the_look_is_no_evidence() -> None:
    assert recognise(HEADER + b"u:hi\n" * 100_000) is Form.COMPACT
