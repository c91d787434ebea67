"""What the tests of sessions share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blackbird.exchange import catalog
from blackbird.exchange.exchange import Exchange
from blackbird.trace.folder import Trace
from tests.blackbird.trace.encoder import Tracer


@pytest.fixture
def exchange_of(tmp_path: Path) -> Callable[[dict[str, Any]], Exchange]:
    """An exchange by what its start says."""

    def make(start: dict[str, Any]) -> Exchange:
        tracer = Tracer()
        request = tracer.exchange(1, start=start)
        found = catalog.load(Trace(tracer.save(tmp_path / "trace")), request)
        assert found is not None
        return found

    return make
