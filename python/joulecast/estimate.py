"""A number with its interval."""
from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A forecast number; `low` to `high` is its 90 % interval."""
    value: float
    low: float | None = None
    high: float | None = None

    def __float__(self) -> float:
        return self.value

    @staticmethod
    def of(found: Any) -> Estimate | None:
        """Out of JSON: an object, or a bare number; None where nothing is known."""
        if isinstance(found, dict):
            return None if found.get("value") is None else Estimate(found["value"], found.get("low"), found.get("high"))
        return None if found is None else Estimate(float(found))


def add_to(record: dict[str, Any], name: str, estimate: Estimate | None) -> None:
    """Three columns of a table: name, name_low, name_high."""
    record[name] = estimate.value if estimate else None
    record[name + "_low"] = estimate.low if estimate else None
    record[name + "_high"] = estimate.high if estimate else None
