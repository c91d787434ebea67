"""Whose a question is."""

from blackbird.recall import Whose


def test_a_process_knows_where_it_works_by_its_environment() -> None:
    variables = {"BLACKBIRD_SESSION": "harbour", "BLACKBIRD_TASK": "crane", "BLACKBIRD_RUN": "run_1", "HOME": "/"}
    assert Whose.of(variables) == Whose(session="harbour", task="crane", run="run_1")
    assert Whose.of({"BLACKBIRD_SESSION": ""}) == Whose()
