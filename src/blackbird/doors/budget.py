"""What the contract asks of an agent: about one search and two items a run. More is answered, counted and told."""

from collections import OrderedDict

from blackbird.recall.reading import GRANTED
from blackbird.recall.whose import Whose

#: How often a run is expected to ask each; what is not here is not counted.
ALLOWED = {f"memory_{op}": count for op, count in GRANTED.items()}
_MOST_RUNS = 1000


class Budget:
    """Counts the calls of each run; without a run, of a session, and without that, of this process."""

    def __init__(self) -> None:
        self._spent: OrderedDict[tuple[str, str], int] = OrderedDict()

    def spend(self, tool: str, who: Whose) -> str:
        """Count one call. Returns nothing, or what is to be said of a call beyond the contract."""
        if tool not in ALLOWED:
            return ""
        key = (tool, who.run or who.session or "")
        spent = self._spent.pop(key, 0) + 1
        self._spent[key] = spent
        if len(self._spent) > _MOST_RUNS:
            self._spent.popitem(last=False)
        if spent <= ALLOWED[tool]:
            return ""
        usual = f"about {ALLOWED[tool]} a run should do"
        return f"This was call {spent} of {tool}; {usual}. Go on with what you have if you can."
