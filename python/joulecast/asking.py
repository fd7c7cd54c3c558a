"""Arguments of Python, as the C++ side takes them."""
from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from joulecast import _native
from joulecast.exporting import Run, listed

_RESERVED = frozenset({"format", "help", "operation", "output", "per_operation", "stdin"})
"""What is for the command line alone."""


class UnknownPartsWarning(UserWarning):
    """Operations have no record, so that the answer is a lower bound."""


def question(run: Run, *, device: object, set: Mapping[str, int | list[int]] | None, options: dict[str, object]) -> _native.Question:
    """What is asked of a session. Takes out of `options` what is in the question; those that are None or False are as if they were not given."""
    asked: _native.Question = taken("models, sizes and device", _native.Question, run.files, sizes(run.batch, set), words("device", device))
    taken("mode", asked.set_mode, run.modes)
    for name in ("precision", "memory_format", "host"):
        if name in options:
            taken(name, getattr(asked, "set_" + name), words(name, options.pop(name)))
    pace, worker = options.pop("pace", None), options.pop("worker", None)
    if worker is not None and pace is None:
        raise _native.UsageError("worker needs pace")
    taken("pace and worker", asked.set_pace, pace or "usual", path(worker))
    for name in ("host_cpu", "optimizer", "optimizer_form", "accumulate", "checkpointing"):
        value = options.pop(name, None)
        if value is not None and value is not False:
            taken(name, getattr(asked, "set_" + name), os.fspath(value) if isinstance(value, os.PathLike) else value)
    return asked


def taken(name: str, call: Callable[..., Any], *values: object) -> Any:
    """What C++ makes of the values. A value of a wrong type is a wrong argument."""
    try:
        return call(*values)
    except TypeError:
        raise _native.UsageError(f"{name} cannot be {', '.join(map(repr, values))}") from None


def refuse_others(verb: str, options: Mapping[str, object]) -> None:
    """UsageError for options that nobody has taken."""
    for name in options:
        if name in _RESERVED:
            raise _native.UsageError(f"{name} is for the command line alone")
        raise _native.UsageError(f"{verb} has no argument {name}")


def warn_of_unknown_parts(unknown: list[str]) -> None:
    """On behalf of the caller's caller."""
    if unknown:
        warnings.warn("\n".join(unknown), UnknownPartsWarning, stacklevel=3)


def sizes(batch: int | list[int] | None, others: Mapping[str, int | list[int]] | None) -> list[tuple[str, list[int]]]:
    """`batch=` and `set=`: symbols with all their values."""
    all_sizes: dict[str, int | list[int]] = {}
    if batch is not None:
        all_sizes["batch"] = batch
    for symbol, values in (others or {}).items():
        if symbol in all_sizes:
            raise _native.UsageError("batch is given twice: as batch= and in set=")
        all_sizes[symbol] = values
    return [(symbol, [_size(symbol, value) for value in listed(values)]) for symbol, values in all_sizes.items()]


def numbers(value: str | float | list[float] | tuple[float, ...] | None) -> str:
    """Clocks and power limits as C++ reads them: "all", "600:1440:120", or numbers; empty where none are given."""
    if value is None or isinstance(value, str):
        return value or ""
    return ",".join(format(number, ".15g") for number in listed(value))


def words(name: str, value: object) -> list[str]:
    """One or several of them; paths are words, too."""
    found = [os.fspath(word) if isinstance(word, os.PathLike) else word for word in listed(value)]
    for word in found:
        if not isinstance(word, str):
            raise _native.UsageError(f"{name} is a text or a list of texts, not {word!r}")
    return found


def path(value: object) -> str:
    """Empty for None."""
    return "" if value is None else words("a file", value)[0]


def _size(symbol: str, value: object) -> int:
    try:
        return int(value.__index__())  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise _native.UsageError(f"the size of {symbol} must be a whole number or a list of these, not {value!r}") from None


def _shipped() -> pathlib.Path:
    """In a wheel beside this file; in the build tree and where CMake installed us, in share/joulecast above share/joulecast/python."""
    here = pathlib.Path(__file__).parent.absolute()
    own = here / "shipped"
    return own if own.is_dir() else here.parent.parent


_native.ship_from(str(_shipped()))
