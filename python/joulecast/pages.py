"""Tables for notebooks. Names come out of model files: everything is escaped."""
from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from joulecast.estimate import Estimate

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def quantity(value: float | None, unit: str) -> str:
    """12.3 ms; – where nothing is known."""
    if value is None:
        return "–"
    if value == 0:
        return f"0 {unit}"
    size, prefix = next(((size, prefix) for size, prefix in _PREFIXES if abs(value) >= size), _PREFIXES[-1])
    return f"{value / size:.3g} {prefix}{unit}"


def interval(estimate: Estimate | None, unit: str) -> str:
    """12.3 ms (11 ms to 14 ms)."""
    if estimate is None:
        return "–"
    text = quantity(estimate.value, unit)
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({quantity(estimate.low, unit)} to {quantity(estimate.high, unit)})"


def symbols(values: dict[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain HTML table that takes the notebook's colours; every cell is text."""
    lines = ["<table><thead><tr>", *(f"<th>{html.escape(head)}</th>" for head in heads), "</tr></thead><tbody>"]
    for row in rows:
        lines.append("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>")
    return "".join(lines) + "</tbody></table>"


def paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(text)}</p>" for text in texts)
