"""One question to the C++ side: words in, JSON out."""
from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Mapping
from typing import Any

from joulecast import _native

PARTS_UNKNOWN = 3
"""Exit status: done, but operations have no record."""
_FAILED = 1
# What would take the answer away from us.
_RESERVED = frozenset({"format", "help", "output", "stdin"})


class UnknownPartsWarning(UserWarning):
    """Operations have no record, so that the answer is a lower bound."""


class Answer:
    """What a verb answered: its JSON, and what it said beside it."""

    def __init__(self, status: int, text: str, said: list[str]) -> None:
        self.status = status
        self.json: dict[str, Any] = json.loads(text)
        self.notes = tuple(said)


def ask(verb: str, models: list[str], options: Mapping[str, object], *, empty_is_answer: bool = False) -> Answer:
    """Runs the verb; options by their long names, None and False left out. Warns of unknown parts on behalf of the caller's caller.

    empty_is_answer: exit status 1 with a result is no error (recommend: nothing holds the limits).
    """
    status, text, said = _native.ask(verb, ["--format=json", *_words(options), "--", *map(_model_word, models)])
    if status == _FAILED and not (empty_is_answer and text and not options.get("strict")):
        raise _native.Error("\n".join(said) or f"{verb} failed")
    if status == PARTS_UNKNOWN:
        warnings.warn("\n".join(_of_unknown_parts(said)), UnknownPartsWarning, stacklevel=3)
    return Answer(status, text, said)


def _of_unknown_parts(said: list[str]) -> list[str]:
    return [line for line in said if "no record" in line] or said


def sizes(batch: int | list[int] | None, others: Mapping[str, int | list[int]] | None) -> list[str]:
    """`batch=` and `set=` as words of --set."""
    all_sizes: dict[str, int | list[int]] = {}
    if batch is not None:
        all_sizes["batch"] = batch
    for symbol, values in (others or {}).items():
        if symbol in all_sizes:
            raise _native.UsageError("batch is given twice: as batch= and in set=")
        all_sizes[symbol] = values
    return [f"{symbol}={','.join(str(_size(symbol, value)) for value in listed(values))}" for symbol, values in all_sizes.items()]


def listed(value: object) -> list[Any]:
    """The value itself as a list of one, unless it is a list or tuple."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def numbers(value: str | float | list[float] | tuple[float, ...] | None) -> str | None:
    """Clocks and power limits as the command line has them: "all", "600:1440:120", or numbers."""
    if value is None or isinstance(value, str):
        return value
    return ",".join(format(number, ".15g") for number in listed(value))


def _size(symbol: str, value: object) -> int:
    try:
        return int(value.__index__())  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise _native.UsageError(f"the size of {symbol} must be a whole number or a list of these, not {value!r}") from None


def _words(options: Mapping[str, object]) -> list[str]:
    words = []
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if key in _RESERVED:
            raise _native.UsageError(f"{key} is for the command line alone")
        for one in listed(value):
            if one is True:
                words.append(name)
            elif one is not None and one is not False:
                words.append(f"{name}={format(one, '.15g') if isinstance(one, float) else os.fspath(one) if isinstance(one, os.PathLike) else one}")
    return words


def _model_word(model: str) -> str:
    # Even behind "--" a word of this kind is taken for an option.
    return "./" + model if model.startswith("-") else model


def _shipped() -> pathlib.Path:
    """In a wheel beside this file; in the build tree and where CMake installed us, in share/joulecast above share/joulecast/python."""
    here = pathlib.Path(__file__).parent.absolute()
    own = here / "shipped"
    return own if own.is_dir() else here.parent.parent


_native.ship_from(str(_shipped()))
