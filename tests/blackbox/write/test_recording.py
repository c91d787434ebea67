"""An open session: its steps, its threads, and the files it goes on in."""

import threading
from pathlib import Path

import pytest

from blackbox import Kind, UsageError, parse, read_document
from blackbox.events.lifecycle import Lifecycle, Rotate
from blackbox.write import Writer
from tests.blackbox.write.clocks import Memory, ticking


def test_steps_never_decrease_and_are_not_shared_between_agents() -> None:
    stream = Memory()
    log = Writer(stream, timestamps=False, start=False, id="s", repo_sha="abc1234")
    log.user("one")
    log.agent("two")
    sub = log.subagent("explore")
    sub.agent("three")
    log.tool("read")
    log.tool("read")
    sub.tool("read")
    log.user("seven", step=9)
    log.agent("ten")
    steps = [(line.meta.step, line.meta.tid) for line in parse(stream.getvalue()).lines[1:]]
    assert steps == [
        *((1, "1"), (2, "1"), (2, "2"), (3, "2")),
        *((4, "1"), (4, "1"), (5, "2"), (9, "1"), (10, "1")),
    ]
    log.close()


def test_a_refused_event_leaves_no_trace() -> None:
    stream = Memory()
    log = Writer(stream, timestamps=False, start=False, id="s", repo_sha="abc1234")
    log.agent("one")
    with pytest.raises(UsageError):
        log.tool("two words")
    log.agent("two")
    assert stream.body == "a: one step=1\na: two step=2\n"
    log.close()


def test_threads_write_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    with Writer.create(path, id="s", repo_sha="abc1234", rotate_bytes=None) as log:

        def work(number: int) -> None:
            with log.subagent("explore", f"task {number}") as sub:
                for _ in range(50):
                    sub.tool("read", "a\nb", result="one\ntwo")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    document = read_document(path)
    tools = [line for line in document.lines if line.kind is Kind.TOOL]
    assert len({line.id for line in tools}) == len(tools) == 200
    assert {line.result.text for line in tools if line.result} == {"one\ntwo"}
    steps = [line.step for line in document.events if line.step]
    assert steps == sorted(steps)


@pytest.mark.requirement("WRITE-05", "LIFE-14", "WRITE-07")
def test_parts_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "night.run.bbox"
    texts = [f"message {number} " + "x" * 40 for number in range(20)]
    with Writer.create(path, rotate_bytes=600, id="s", repo_sha="abc1234", notes="a: b") as log:
        for text in texts:
            log.user(text)
    names, said = [path.name], []
    while True:
        document = read_document(tmp_path / names[-1])
        assert document.header is not None
        assert (document.header.id, document.header.text("notes")) == ("s", "a: b")
        said += [line.event.text for line in document.lines if line.kind is Kind.USER]  # type: ignore[union-attr]
        last = document.lines[-1].event
        if not (isinstance(last, Lifecycle) and isinstance(last.primitive, Rotate)):
            break
        assert (tmp_path / names[-1]).stat().st_size <= 600 + len(document.lines[-1].source) + 1
        names.append(str(last.primitive.file))
    assert said == texts
    assert names[:3] == ["night.run.bbox", "night.run.part2.bbox", "night.run.part3.bbox"]
    assert sorted(names) == sorted(file.name for file in tmp_path.iterdir())
    assert [line.source[:7] for line in document.lines[-2:]] == ["@end st", "# tools"]


def test_the_rotate_line_and_the_next_part(tmp_path: Path) -> None:
    with Writer.create(
        tmp_path / "s.bbox", rotate_bytes=80, clock=ticking(), start=False, id="s", repo_sha="abc1234"
    ) as log:
        log.user("one")
        log.user("two" * 20)
    header, body = (tmp_path / "s.bbox").read_text().split("---\n\n")
    assert body == (
        "u: one step=1 ts=2025-12-18T03:21:09Z\n@rotate file=s.part2.bbox step=1 ts=2025-12-18T03:21:10Z\n"
    )
    again, rest = (tmp_path / "s.part2.bbox").read_text().split("---\n\n")
    assert again == header == "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nescape: 1\n"
    assert rest.startswith(f"u: {'two' * 20} step=2 ts=2025-12-18T03:21:10Z\n@end step=2 ts=")
    assert len(list(tmp_path.iterdir())) == 2
