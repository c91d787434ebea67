"""What holds for every test: the configuration of whoever runs them has no say."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How fast an example runs is the machine's affair; Hypothesis' own profile for CI stays as it is otherwise.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _no_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty folder in place of the user's own, for this process and for all that it starts."""
    before = os.environ.get("BLACKBIRD_HOME")
    os.environ["BLACKBIRD_HOME"] = str(tmp_path_factory.mktemp("blackbird_home"))
    yield
    if before is None:
        del os.environ["BLACKBIRD_HOME"]
    else:
        os.environ["BLACKBIRD_HOME"] = before
