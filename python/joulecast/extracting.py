"""joulecast.extract()."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, overload

from joulecast import _native, asking, pages
from joulecast.exporting import Model, Run, runs_of
from joulecast.results import Results


@dataclasses.dataclass(frozen=True)
class OperationCount:
    """All calls of one operation of a network: what it computes and moves, forward."""
    op: str
    signature: str
    count: int
    flops: int
    bytes_read: int
    bytes_written: int
    has_record: bool
    raw: dict[str, Any] = dataclasses.field(repr=False)

    def to_record(self) -> dict[str, Any]:
        return dict(self.raw)


@dataclasses.dataclass(frozen=True)
class Extraction:
    """The work of a network, whatever computes it."""
    model: str
    symbols: dict[str, int]
    mode: str
    nodes: int
    """Calls in the graph."""
    nodes_without_record: int
    flops: int
    """Of matrix products, convolutions and attention, 2 per multiply-add; forward."""
    other_flops: int
    backward_flops: int
    bytes_read: int
    bytes_written: int
    operations: tuple[OperationCount, ...] = dataclasses.field(repr=False)
    notes: tuple[str, ...] = dataclasses.field(repr=False)
    raw: dict[str, Any] = dataclasses.field(repr=False)

    @staticmethod
    def of(found: dict[str, Any], notes: tuple[str, ...] = ()) -> Extraction:
        """Out of an entry of "models" in joulecast.extract/1."""
        operations = tuple(OperationCount(**{name: call[name] for name in _OF_OPERATION}, raw=call) for call in found["operations"])
        return Extraction(**{name: found[name] for name in _PLAIN}, symbols=dict(found["symbols"]), operations=operations, notes=notes, raw=found)

    def to_record(self) -> dict[str, Any]:
        return {"model": self.model, **self.symbols, **{name: getattr(self, name) for name in _PLAIN}}

    def to_records(self) -> list[dict[str, Any]]:
        """One row for each operation."""
        return [operation.to_record() for operation in self.operations]

    def _repr_html_(self) -> str:
        dearest = sorted(self.operations, key=lambda o: (-o.flops, -o.bytes_read))[:_SHOWN_OPERATIONS]
        return _page([self], self.notes) + pages.table(
            ("operation", "signature", "calls", "FLOPs", "read", "written"),
            [(o.op, o.signature, o.count, pages.quantity(o.flops, "FLOP"), pages.quantity(o.bytes_read, "B"), pages.quantity(o.bytes_written, "B"))
             for o in dearest])


_PLAIN = ("model", "mode", "nodes", "nodes_without_record", "flops", "other_flops", "backward_flops", "bytes_read", "bytes_written")
_OF_OPERATION = ("op", "signature", "count", "flops", "bytes_read", "bytes_written", "has_record")
_SHOWN_OPERATIONS = 8


class Extractions(Results[Extraction]):
    """By model, then sizes."""

    def _repr_html_(self) -> str:
        return _page(self, self.notes)


def _page(extractions: Any, notes: tuple[str, ...]) -> str:
    return pages.table(("model", "mode", "sizes", "calls", "FLOPs", "backward", "read", "written"), [
        (e.model, e.mode, pages.symbols(e.symbols), e.nodes, pages.quantity(e.flops, "FLOP"), pages.quantity(e.backward_flops, "FLOP"),
         pages.quantity(e.bytes_read, "B"), pages.quantity(e.bytes_written, "B")) for e in extractions]) + pages.paragraphs(notes)


@overload
def extract(  # type: ignore[overload-overlap]
            model: Model, example_inputs: Any = None, *, batch: int | None = None, set: Mapping[str, int] | None = None, mode: str | None = None,
            precision: str | None = None, **options: str | float | bool | None) -> Extraction: ...
@overload
def extract(model: Model | list[str], example_inputs: Any = None, *, batch: int | list[int] | None = None,
            set: Mapping[str, int | list[int]] | None = None, mode: str | None = None, precision: str | None = None,
            **options: str | float | bool | None) -> Extractions: ...
def extract(model: Any, example_inputs: Any = None, *, batch: Any = None, set: Any = None, mode: str | None = None, precision: str | None = None,
            **options: Any) -> Extraction | Extractions:
    """Counts the operations of networks: calls, FLOPs and bytes, each different operation once.

    Arguments are those of predict(). mode: inference or training; None: the file's own, of a module inference.
    An Extraction; where an argument is a list, a sequence of these.
    """
    several = any(isinstance(value, (list, tuple)) for value in (model, batch, *(set or {}).values()))
    extractions: list[Extraction] = []
    notes: list[str] = []
    with runs_of(model, example_inputs, [mode or "inference"], batch) as runs:
        for run in runs:
            counted, said, missing = _counted(run, asking.sizes(run.batch, set), {"mode": mode, "precision": precision, **options})
            asking.warn_of_unknown_parts(missing)
            own = (*run.notes, *said, *missing)
            notes += [note for note in own if note not in notes]
            fixed = {} if run.fixed_batch is None else {"batch": run.fixed_batch}
            for found in counted:
                extraction = Extraction.of(found, own)
                extractions.append(dataclasses.replace(extraction, symbols={**fixed, **extraction.symbols}))
    return Extractions(extractions, notes) if several else extractions[0]


def _counted(run: Run, sizes: list[tuple[str, list[int]]], options: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Counts, notes, and which operations have no record."""
    given = {name: options.pop(name) for name in _OPTIONS if name in options}
    asking.refuse_others("extract", options)
    given = {name: value for name, value in given.items() if value is not None}
    try:
        counted, said, missing = _native.extract(run.files, sizes, **given)
    except TypeError:
        raise _native.UsageError(f"an argument of extract has a wrong type: {given}") from None
    return counted, said, missing.splitlines()


_OPTIONS = ("mode", "precision", "device", "top", "by_module", "depth", "graph", "bag", "memory_format")
