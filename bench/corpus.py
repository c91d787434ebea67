"""Made-up logs to measure on: any size, the same bytes for the same seed."""

import random
from collections.abc import Iterator

HEADER = """\
---
format: bbox/1
id: sess_bench
mode: auto
model: sonnet-4
repo: harbourlight/tidepool
repo_sha: 4f2a9c1e
branch: main
runner: local
sandbox_id: box_1
---

@start id=sess_bench budget=$5000 duration=900h
"""
_WORDS = (  # noqa: SIM905 - a sentence reads better than a list
    "the queue keeps jobs until a worker takes them and the retry path doubles its delay after every failure so a "
    "broken backend gets time to recover while the metrics show how many attempts each job needed before it passed"
).split()
_FILES = ("src/queue.rs", "src/worker/pool.rs", "tests/retry.rs", "docs/guide.md", "crates/store/src/wal.rs")
_TOOLS = ("read", "grep", "edit", "shell", "test", "git", "glob", "write")


def prose(rng: random.Random, count: int) -> str:
    """So many words."""
    return " ".join(rng.choices(_WORDS, k=count))


def session_lines(seed: int = 1) -> Iterator[str]:
    """An endless session: each turn is a message with its metrics, some calls, now and then something rare."""
    rng = random.Random(seed)
    step = call = 0
    while True:
        step += 1
        ts = _timestamp(step)
        words = prose(rng, rng.randint(6, 30))
        yield f"a: {words.capitalize()}. step={step} ts={ts}"
        prompt, completion = rng.randint(500, 90_000), rng.randint(20, 900)
        yield f"# metrics step={step} prompt_tokens={prompt} completion_tokens={completion} cost_usd=0.0001"
        for _ in range(rng.randint(1, 5)):
            call += 1
            yield from _call(rng, call, step, ts)
        if step % 40 == 0:
            yield f"u: Please also look at {rng.choice(_FILES)} step={step} ts={ts}"
            yield f"c:github.issues id=call_m{step} state=open step={step} ts={ts} → [{rng.randint(0, 30)} issues]"
        if step % 200 == 0:
            options = 'options=["SQLite", "Postgres"]'
            yield f'q: id=q_{step} "Which store?" {options} step={step} ts={ts} → [selected: SQLite]'
            yield f"@checkpoint hour={step // 200} tokens={step * 900} cost=$1.00 step={step} ts={ts}"


def _call(rng: random.Random, call: int, step: int, ts: str) -> Iterator[str]:
    tool, path = rng.choice(_TOOLS), rng.choice(_FILES)
    meta = f"step={step} ts={ts}"
    shape = rng.random()
    if shape < 0.55:
        latency, length = rng.randint(3, 900), rng.randint(1, 900)
        yield f"t:{tool} id=call_{call} {path} {meta} latency_ms={latency} → [{length} lines]"
    elif shape < 0.8:
        pattern = prose(rng, 3)
        yield f't!:{tool} id=call_{call} pattern="{pattern}" path={path} {meta} → [running]'
        yield f"o: id=call_{call} → [ok] {prose(rng, 10)}"
    else:
        yield f't:shell id=call_{call} cmd="cargo test {path}" {meta} → [ok] {rng.randint(1, 200)} passed'
        for _ in range(rng.randint(1, 4)):
            yield f"  test {rng.choice(_WORDS)}_{rng.randint(1, 99)} ... ok"


def _timestamp(step: int) -> str:
    minutes, second = divmod(step * 7, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"2026-01-{1 + days % 28:02d}T{hour:02d}:{minute:02d}:{second:02d}Z"


def synthetic_blocks(size: int, seed: int = 1) -> Iterator[bytes]:
    """A log of about `size` bytes, in blocks of about a megabyte."""
    block, length = [HEADER], len(HEADER)
    for line in session_lines(seed):
        block.append(line + "\n")
        length += len(line) + 1
        if length >= min(size, 1 << 20):
            data = "".join(block).encode()
            yield data
            size -= len(data)
            block, length = [], 0
            if size <= 0:
                return
