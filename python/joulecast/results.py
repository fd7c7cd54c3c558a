"""Several results in a row, ready for tables."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar, overload


class Tabled(Protocol):
    """A result that knows its row of a table."""

    def to_record(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=Tabled)


class Results(Sequence[R], Generic[R]):
    """Results in the order of what was asked for."""

    def __init__(self, results: Iterable[R], notes: Iterable[str] = ()) -> None:
        self._results = tuple(results)
        self.notes = tuple(notes)
        """What the user should know of all of them: which predictor stands in, what is missing."""

    @overload
    def __getitem__(self, place: int) -> R: ...
    @overload
    def __getitem__(self, place: slice) -> Results[R]: ...
    def __getitem__(self, place: int | slice) -> R | Results[R]:
        return type(self)(self._results[place], self.notes) if isinstance(place, slice) else self._results[place]

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{', '.join(map(repr, self._results))}])"

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dict a result, for pandas.DataFrame(...) or csv.DictWriter."""
        return [result.to_record() for result in self._results]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of to_records(). ImportError where pandas is not installed."""
        try:
            import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas, which is not installed: pip install pandas, or take to_records()") from error
        return pandas.DataFrame(self.to_records())
