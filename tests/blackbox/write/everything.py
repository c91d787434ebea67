"""A session in which one text stands in every place that takes a text."""

from typing import Any

from blackbox.write import Writer, metrics_of
from blackbox.write.results import count, err, lines, ok


def say_everywhere(log: Writer, text: str) -> None:
    """Log `text` through every method, in every argument that is free text."""
    _talk(log, text)
    _call(log, text)
    _mark(log, text)
    with log.subagent("explore", text, about=text) as sub:
        sub.user(text)
        sub.close(summary=text, session_id="s", path="p")
    log.subagent("explore").close(result=ok(text))


def _talk(log: Writer, text: str) -> None:
    log.user(text, extra={"note": text}, model=text)
    log.agent(text, metrics=metrics_of(extra={"note": text}, other={"xnote": text}))
    log.thinking(text)
    log.todos([("pending", text), ("odd", f"a\n{text}")])
    log.mode("auto", comment=text)
    question = log.ask(text, options=["a", text], more=text)
    question.select("a", text)
    question.auto("a", reason=text)
    question.answer(text)


def _call(log: Writer, text: str) -> None:
    given: dict[str, Any] = {"list": ["a", text], "nested": {"deep": [text]}}
    long = "word " * 300
    for result in (text, ok(text), err(text), lines(2, f"a\n{text}"), f"{long}{text}", err(f"{long}{text}")):
        log.tool("shell", "run", text, ["a", text], result=result, flag=text, arguments=given)
    log.tool("shell", result=ok(f"{text} {long}"))
    log.tool("shell", result=lines(3, f"{text}\n{long}"))
    log.tool("shell", result=count(3, "files"))
    running = log.start_tool("build", text)
    running.progress(text)
    running.retry(2, 3)
    running.failed(text)
    log.observe("call_1", partial=text)
    log.observe("call_1", text)
    log.mcp("github", "issues", text, result=text, flag=text)
    log.skill("pricing", "activate", text, result=text)
    log.plan("create", text, result=text)
    log.plan_file(text)
    log.recall(text, "other", result=text)
    log.tool("read", result=log.blob(f"{text} {long}".encode(), "text/plain"))
    log.tool("read", result=log.blob(b"\xff\x00 " + text.encode() + b" \xfe", "image/png"))


def _mark(log: Writer, text: str) -> None:
    log.lifecycle("odd", text, "b", result=text, comment=text, flag=text)
    log.checkpoint(hour=1, comment=text)
    log.pause(text)
    log.resume(text)
    log.assess([("P0", text), ("P1", "b")])
    log.notify(text)
    log.wait_approval(outcome=text, about=text)
    log.escalate(text)
    log.batch(["a", text], reason=text)
    log.snapshot("s1", text)
    log.compact(reason=text, comment=text)
    log.phase(text, comment=text)
    log.init(text)
    log.comment(text)
    log.note(text)
    log.status(text)
    log.model_switch(text, reason=text)
    log.condense(1, 2, detail=text)
    log.anchor(1, reason=text)
    log.memory_store(text, target=text)
    log.queue("enqueue", text)
    log.raw_event({"type": "x", "text": text, "deep": [{"a": text}]})
