"""Tables for notebooks and terminals. Names come out of model files: in HTML everything is escaped."""
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


def text_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The same for print(): columns that are empty in every row are left out, control characters are replaced."""
    cells = [[_printable(str(cell)) for cell in row] for row in rows]
    shown = [place for place in range(len(heads)) if any(row[place] not in ("", "–") for row in cells)]
    lines = [[heads[place] for place in shown], *([row[place] for place in shown] for row in cells)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(shown))]
    lines.insert(1, ["─" * width for width in widths])
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
