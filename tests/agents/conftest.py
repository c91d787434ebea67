"""Real clients are not for `make test`: their tests are collected in the world that `make test-clients` makes."""

import os

from tests.agents.harness.cases import INSIDE

if INSIDE not in os.environ:
    collect_ignore_glob = [
        "test_zz_resume.py",
        "test_ccusage.py",
        "test_flights.py",
        "test_inspector.py",
        "test_memory.py",
        "test_faults.py",
        "test_tools.py",
        "test_views.py",
    ]
