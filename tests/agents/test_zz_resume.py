import pytest
from tests.agents.harness.flight import fly
from tests.agents.harness.cases import cases
from tests.agents.test_flights import FLIGHTS
from tests.agents.harness import views


@pytest.mark.parametrize("name", [n for n, c in cases().items() if c.resume])
def test_r(name):
    case = cases()[name]
    f = fly(case, case.faults[-1], FLIGHTS / f"{name}-resumed", is_resumed=True)
    print(name, f.exit_code, f.stdout[-500:], f.stderr[-1500:])
    views.take(f.folder)
    assert f.exit_code == 0
