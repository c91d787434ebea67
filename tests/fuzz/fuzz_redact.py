"""A coverage-guided fuzz target over redaction.

python tests/fuzz/fuzz_redact.py -max_total_time=600

The arguments are libFuzzer's. Without a corpus folder among them a new one is made from the cases of
fixtures/redaction. A crash file is replayed by naming it.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["blackbox"]):
    from blackbox.redaction.files import redact_file
    from blackbox.redaction.redactor import Redactor
    from tests.blackbox.redaction import naive
    from tests.blackbox.redaction.corpus import read_corpus
    from tests.fuzz.drive import fuzz

MAX_BYTES = 4096
REDACTOR = Redactor()


def exercise(data: bytes) -> None:
    """Any bytes: found is what the page says, nothing found stays, and the second time nothing is found."""
    found = REDACTOR.find(data)
    if found != naive.find(REDACTOR.items, data):
        raise AssertionError("the fast search differs from the page")
    clean, counts = REDACTOR.redact_bytes(data)
    if sum(counts.values()) != len(found) or clean.count(b"[redacted:") < len(found):
        raise AssertionError("a secret has no marker")
    if len(clean) != len(data) - sum(end - start - len(f"[redacted:{kind}]") for start, end, kind in found):
        raise AssertionError("a secret is still there")
    if REDACTOR.redact_bytes(clean) != (clean, {}):
        raise AssertionError("redacting twice differs from redacting once")
    redact_file(REDACTOR, data)


if __name__ == "__main__":
    fuzz(exercise, lambda: [case.text.encode() for case in read_corpus()], f"-max_len={MAX_BYTES}")
