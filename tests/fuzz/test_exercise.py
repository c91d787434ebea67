"""What the fuzzer and its kin have found, and the corpus they start from."""

from pathlib import Path

import pytest

from tests.fuzz import conversations, doors, forms
from tests.fuzz.exercise import ROOT, exercise, logs, seeds

FINDINGS = {
    "todos without a state": b"td: buy milk\n",
    "priorities without a rank": b"@assess \xe2\x86\x92 nothing urgent\n",
    "alias that holds itself": b"---\na: &x [*x]\n---\n",
    "character beyond Unicode": b'---\na: "\\UFFFFFFFF"\n---\n',
    "number beyond all means": b"---\n%YAML 1." + b"1" * 5000 + b"\n---\n",
    "nesting behind quoted brackets": b"---\na: " + b'["]",' * 3000 + b"\n---\n",
    "id in a quoted question": b'q:"foo id=3 bar"\n',
    "id of an unknown line": b"hello id=5\n",
    "id where the name should be": b"t: id=5 x\n",
    "id behind two equals signs": b't:a x=b="c id=5 d"\n',
    "error with a backslash before its bracket": b"t:a \xe2\x86\x92 [err: C:\\]\n",
    "one leading space": b" u: x\n",
}


@pytest.mark.parametrize("data", FINDINGS.values(), ids=FINDINGS.keys())
@pytest.mark.requirement("PROOF-03")
def test_finding_stays_mended(data: bytes) -> None:
    exercise(data)


@pytest.mark.parametrize("path", logs(), ids=lambda path: path.name)
def test_every_log_of_the_repository_holds_the_promises(path: Path) -> None:
    exercise(path.read_bytes())


@pytest.mark.requirement("PROOF-03")
def test_target_starts_from_a_corpus_and_a_dictionary() -> None:
    assert len(seeds()) > 500
    assert (ROOT / "tests" / "fuzz" / "fuzz_parse.py").is_file()
    assert (ROOT / "tests" / "fuzz" / "bbox.dict").is_file()


HEADER = b"---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nmodel: gannet-3\n"
#: What came through another form as something else.
FORMS = {
    "metrics with a hash that is none": b'{"t":"#","c":"metrics logprobs=@blob sha256=5?"}\n',
    "bad UTF-8 in a quoted result": HEADER + b'escape: 1\n---\nx:explore \xe2\x86\x92 summary="a\xff b"\n',
    "bad UTF-8 in the type of a blob": HEADER
    + b"---\nt:read a \xe2\x86\x92 @blob sha256="
    + b"4c" * 32
    + b" mime=text/mar\x93\n",
    "call without an id that JSON cannot carry, and an answer to another": HEADER
    + b"---\nt!:edit \xf7\no: id=call_1 \xe2\x86\x92 [ok]\n",
    "bad UTF-8 in a header with a model": HEADER + b"notes: 14\xe1\n---\na: Done. step=1\n",
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_finding_in_the_forms_stays_mended(data: bytes) -> None:
    forms.exercise(data)


def test_every_example_comes_through_every_form() -> None:
    found = list(forms.seeds())
    assert len(found) > 100
    for seed in found[::7]:
        forms.exercise(seed)


def test_every_conversation_of_the_corpus_holds_the_promises() -> None:
    corpus = list(conversations.seeds())
    assert len(corpus) == 23
    for data in corpus:
        conversations.exercise(data)


def test_every_message_of_the_corpus_is_answered() -> None:
    corpus = doors.seeds()
    assert len(corpus) == 63
    for data in (*corpus, b"\n".join(corpus[:6])):
        doors.exercise(data)
