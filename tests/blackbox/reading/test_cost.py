"""`blackbox cost`: tables, totals, and what is not known."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from tests.blackbox.cli.command import FEATURE, NIGHT_SHIFT, run, write_log

BODY = """\
@start budget=$1
a: One. step=1
# metrics step=1 prompt_tokens=1000 completion_tokens=11 cost_usd=0.40
t:read a.py step=1 → [ok]
t:edit a.py step=1 → [ok]
@end cost=$1.25
"""
SHOWN = """\
Cost of {log}
  Cost:         $1.25 (from @end)
  Tokens:       1,011 (from the sum of # metrics)
  Budget:       $1.00, 125.0 % spent
  In messages:  $0.40, 1,011 tokens (from the sum of # metrics); $0.85 of the total belongs to none
  ✗ over budget by $0.25

By step
           cost  input  output   cached  messages  line
  step 1  $0.40  1,000      11  unknown         1    10

By tool
         cost  input  output   cached  calls  line
  read  $0.20    500       6  unknown      1    12
  edit  $0.20    500       5  unknown      1    13

By model
            cost  input  output   cached  messages  line
  unknown  $0.40  1,000      11  unknown         1    10

By agent
      cost  input  output   cached  messages  line
  1  $0.40  1,000      11  unknown         1    10
"""


@pytest.mark.requirement("AUDIT-01")
def test_tables_and_totals(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", BODY)
    assert run("cost", log) == (0, SHOWN.format(log=log), "")


@pytest.mark.requirement("AUDIT-01")
def test_one_table_and_its_dearest_rows() -> None:
    done = run("cost", NIGHT_SHIFT, "--by", "step", "--top", "2")
    table = done.out.partition("By step\n")[2].splitlines()
    assert [line.split()[:3] for line in table[1:3]] == [["step", "56", "$0.7509"], ["step", "91", "$0.1822"]]
    assert table[3] == "  … and 12 more: --top 14"
    assert "By tool" not in done.out


def test_unknown_is_never_zero(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "a: Hello.\n")
    assert run("cost", log).out == (
        f"Cost of {log}\n  Cost:         unknown\n  Tokens:       unknown\n  Budget:       none stated\n"
        "  In messages:  nothing: the log has neither # metrics nor tokens on its messages\n"
    )


def test_contradiction_is_shown(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "@end cost=$1\n# tokens=5 cost=$2\n")
    assert "  ! cost: @end says $1.00, the closing # line $2.00\n" in run("cost", log).out


def test_json_has_exact_money_and_every_row(tmp_path: Path) -> None:
    value = json.loads(run("cost", NIGHT_SHIFT, "--json").out)
    assert (value["schema"], value["cost"]) == ("blackbox.cost/1", {"source": "end", "amount": "21.46"})
    assert (len(value["steps"]), value["budget"]["remaining"]) == (14, "28.54")
    assert value["attributed"]["cost"] == "1.7677"


def test_standard_input_and_wrong_usage() -> None:
    assert "Cost:         $0.62 (from @end)" in run("cost", "-", stdin=FEATURE.read_bytes()).out
    assert run("cost", FEATURE, "--by", "mood").code == 2


@pytest.mark.requirement("AUDIT-01")
def test_shares_are_even_and_legible(tmp_path: Path) -> None:
    calls = "".join(f"t:{tool} x step=1 → [ok]\n" for tool in ("read", "edit", "grep"))
    log = write_log(tmp_path, "a.bbox", f"a: One. step=1\n# metrics step=1 cost_usd=0.10\n{calls}")
    table = run("cost", log, "--by", "tool").out.partition("By tool\n")[2].splitlines()
    assert [line.split()[:2] for line in table[1:]] == [
        ["read", "$0.033333"],
        ["edit", "$0.033333"],
        ["grep", "$0.033333"],
    ]
    shares = [Decimal(row["usage"]["cost"]) for row in json.loads(run("cost", log, "--json").out)["tools"]]
    assert sum(shares) == Decimal("0.10")


def test_small_amount_keeps_three_digits(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a.bbox", "a: One. step=1\n# metrics step=1 cost_usd=0.000000123456\n")
    assert "  step 1  $0.000000123 " in run("cost", log, "--by", "step").out


def test_shares_of_one_tool_are_shown_as_their_plain_sum(tmp_path: Path) -> None:
    body = "a: One. step=1\n# metrics step=1 cost_usd=0.10\n" + "t:read x step=1 → [ok]\n" * 3
    assert "  read  $0.10 " in run("cost", write_log(tmp_path, "a.bbox", body), "--by", "tool").out


@pytest.mark.requirement("AUDIT-01")
def test_sub_agents_that_have_only_a_companion_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "a.rlog"
    log.write_text("---\nformat: rlog/1\nid: a\nrepo_sha: 4f2a9c1\n---\nx:explore id=7 → [started]\n")
    metrics = {"subtype": "event", "t": "#", "c": "metrics step=1 prompt_tokens=9 cost_usd=0.25"}
    lines = ({"type": "header", "session_id": "sub-7", "parent_session": "a"}, {"type": "system", "message": metrics})
    (tmp_path / "a.sub-7.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "a.sub-8.jsonl").write_text("")
    done = run("cost", "a.rlog", "--by", "agent", folder=tmp_path)
    assert done.out.splitlines()[-1].split() == ["sub-7", "$0.25", "9", "unknown", "unknown", "0"]
    assert done.code == 3
    assert done.err.splitlines()[:2] == [
        "1 sub-agent of a.rlog read from .jsonl; lines are those of blackbox export FILE --format bbox",
        "✗ a.sub-8.jsonl: it is empty",
    ]
