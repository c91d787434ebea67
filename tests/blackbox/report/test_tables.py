"""The tables that ship with the package."""

from blackbox.report.tables import network, sensitive_paths


def test_network_table_is_whole() -> None:
    table = network()
    assert table.by_name["git"].server == "a git remote"
    assert {"curl", "scp", "npm"} <= table.programs
    assert len(table.by_name) == len(table.command)


def test_sensitive_patterns_are_in_lower_case_as_paths_are_compared() -> None:
    patterns = [pattern for kind in sensitive_paths().path for pattern in kind.patterns]
    assert patterns == [pattern.lower() for pattern in patterns]
    assert len(patterns) == len(set(patterns))
