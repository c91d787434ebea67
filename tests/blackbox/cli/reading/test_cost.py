"""`blackbox cost`: tables, totals, and what is not known."""

import json
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
