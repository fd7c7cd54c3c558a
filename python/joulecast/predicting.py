"""joulecast.predict()."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any, overload

from joulecast import _native, asking, pages
from joulecast._native import Error, UsageError
from joulecast.estimate import Estimate, add_to
from joulecast.exporting import Model, Run, listed, runs_of
from joulecast.results import Results


@dataclasses.dataclass(frozen=True)
class OperationForecast:
    """All calls of one operation in a network."""
    op: str
    signature: str
    count: int
    time_s: Estimate | None
    """Seconds of all its calls."""
    energy_j: Estimate | None
    """Joules of all its calls above idle power."""
    evidence: str
    """measured, interpolated, extrapolated, analytic, or unknown."""
    raw: dict[str, Any] = dataclasses.field(repr=False)

    @staticmethod
    def of(found: dict[str, Any]) -> OperationForecast:
        return OperationForecast(found["op"], found["signature"], found["count"], Estimate.of(found["time_s"]), Estimate.of(found["energy_j"]),
                                 found["evidence"], found)


@dataclasses.dataclass(frozen=True)
class Forecast:
    """What one network costs on one device at one setting. None: not known, and a reason beside it."""
    model: str
    device: str
    device_name: str
    mode: str
    precision: str
    memory_format: str
    """contiguous or channels_last: how images lie."""
    host: str
    symbols: dict[str, int]
    """Sizes by symbol: {"batch": 32}."""
    clock_mhz: float | None
    """SM clock that the device really runs at; None: the one that it was measured at."""
    memory_clock_mhz: float | None
    asked_clock_mhz: float | None
    asked_power_limit_w: float | None
    time_s: Estimate | None
    device_time_s: Estimate | None
    host_time_s: Estimate | None
    energy_j: Estimate | None
    idle_energy_j: float | None
    dynamic_energy_j: float | None
    power_w: Estimate | None
    optimizer: str | None
    """Whose update is in time and energy, of a training step; "none" without."""
    accumulate: int | None
    """Passes forward and backward before it; time and energy are of all of them."""
    step_time_s: float | None
    """What one of these passes costs with its share of the update."""
    step_energy_j: float | None
    energy_missing_reason: str
    peak_memory_bytes: Estimate | None
    """Peak above `resident_bytes`."""
    resident_bytes: float | None
    """Parameters, buffers and inputs."""
    limited_by: str
    """device, host or power_cap."""
    predictor: str
    evidence_share: dict[str, float]
    """Shares of the time: measured, interpolated, extrapolated, analytic."""
    unknown_nodes: int
    unknown_operations: tuple[str, ...]
    lower_bound: bool
    """Operations have no record, so that the time is a lower bound."""
    operations: tuple[OperationForecast, ...] = dataclasses.field(repr=False)
    notes: tuple[str, ...] = dataclasses.field(repr=False)
    """What the program says beside the result."""
    raw: dict[str, Any] = dataclasses.field(repr=False)
    """Everything, as `joulecast predict --format json` has it."""

    @staticmethod
    def of(found: dict[str, Any], notes: tuple[str, ...] = ()) -> Forecast:
        """Out of an entry of "predictions" in joulecast.prediction/1."""
        fields: dict[str, Any] = {name: found.get(name) for name in _PLAIN}
        fields.update({name: Estimate.of(found.get(name)) for name in _ESTIMATES})
        return Forecast(**fields, symbols=dict(found["symbols"]), evidence_share=dict(found["evidence_share"]),
                        unknown_operations=tuple(found["unknown_operations"]), notes=notes, raw=found,
                        operations=tuple(OperationForecast.of(operation) for operation in found.get("operations", ())))

    def to_record(self) -> dict[str, Any]:
        """One flat row: a column for each size, and three (value, low, high) for what has an interval."""
        record: dict[str, Any] = {name: getattr(self, name) for name in _LEADING}
        record.update(self.symbols)
        for name in _ESTIMATES:
            add_to(record, name, getattr(self, name))
        record.update({name: getattr(self, name) for name in _PLAIN if name not in record})
        record.update({f"share_{evidence}": share for evidence, share in self.evidence_share.items()})
        return record

    def __str__(self) -> str:
        """A table of one row."""
        return pages.text_table(*_table([self]))

    def _repr_html_(self) -> str:
        return _page([self], self.notes) + pages.table(
            ("operation", "calls", "time", "evidence"),
            [(o.op, o.count, pages.interval(o.time_s, "s"), o.evidence) for o in
             sorted(self.operations, key=lambda o: -(o.time_s.value if o.time_s else 0.0))[:_SHOWN_OPERATIONS]])


_LEADING = ("model", "device", "mode", "precision", "memory_format", "host")
_ESTIMATES = ("time_s", "device_time_s", "host_time_s", "energy_j", "power_w", "peak_memory_bytes")
_PLAIN = _LEADING + ("device_name", "clock_mhz", "memory_clock_mhz", "asked_clock_mhz", "asked_power_limit_w", "idle_energy_j", "dynamic_energy_j", "optimizer", "accumulate",
                     "step_time_s", "step_energy_j",
                     "energy_missing_reason", "resident_bytes", "limited_by", "predictor", "unknown_nodes", "lower_bound")
_SHOWN_OPERATIONS = 8


class Forecasts(Results[Forecast]):
    """By device, then model, sizes, mode, precision, memory format, host and clock, as given. For a module that was exported: by mode first."""

    def __str__(self) -> str:
        return pages.text_table(*_table(self))

    def _repr_html_(self) -> str:
        return _page(self, self.notes)


def _page(forecasts: Any, notes: tuple[str, ...]) -> str:
    return pages.table(*_table(forecasts)) + pages.paragraphs(notes)


def _table(forecasts: Any) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows."""
    heads = ("model", "device", "clock", "mode", "precision", "sizes", "time (90 %)", "energy (90 %)", "power", "memory", "limited by")
    rows: list[tuple[str, ...]] = []
    for f in forecasts:
        memory = f.peak_memory_bytes.value + (f.resident_bytes or 0) if f.peak_memory_bytes else None
        clock = "–" if f.clock_mhz is None else f"{f.clock_mhz:.0f} MHz"
        rows.append((f.model, f.device_name, clock, f.mode, f.precision, pages.symbols(f.symbols),
                     ("≥ " if f.lower_bound else "") + pages.interval(f.time_s, "s"), pages.interval(f.energy_j, "J"),
                     pages.quantity(f.power_w.value if f.power_w else None, "W"), pages.quantity(memory, "B"), f.limited_by))
    return heads, rows


# Plain arguments fit both signatures: the first is meant.
@overload
def predict(  # type: ignore[overload-overlap]
            model: Model, example_inputs: Any = None, *, device: str, batch: int | None = None, set: Mapping[str, int] | None = None,
            mode: str = "inference", precision: str = "default", memory_format: str = "contiguous", host: str = "python", clocks: None = None,
            power_limits: None = None, predictor: str | os.PathLike[str] | None = None, database: str | os.PathLike[str] | None = None,
            optimizer: str | None = None, accumulate: int | None = None, checkpointing: bool = False, strict: bool = False,
            **options: str | float | bool | None) -> Forecast: ...
@overload
def predict(model: Model | list[str], example_inputs: Any = None, *, device: str | list[str], batch: int | list[int] | None = None,
            set: Mapping[str, int | list[int]] | None = None, mode: str | list[str] = "inference", precision: str | list[str] = "default",
            memory_format: str | list[str] = "contiguous", host: str | list[str] = "python", clocks: str | float | list[float] | None = None,
            power_limits: str | float | list[float] | None = None, predictor: str | os.PathLike[str] | None = None,
            database: str | os.PathLike[str] | None = None, optimizer: str | None = None, accumulate: int | None = None, checkpointing: bool = False,
            strict: bool = False, **options: str | float | bool | None) -> Forecasts: ...
def predict(model: Any, example_inputs: Any = None, *, device: Any, batch: Any = None, set: Any = None, mode: Any = "inference",
            precision: Any = "default", memory_format: Any = "contiguous", host: Any = "python", clocks: Any = None, power_limits: Any = None,
            predictor: Any = None, database: Any = None, optimizer: str | None = None, accumulate: int | None = None, checkpointing: bool = False,
            strict: bool = False, **options: Any) -> Forecast | Forecasts:
    """Forecasts time, energy and memory of networks without running them.

    model: an nn.Module (with example_inputs), an ExportedProgram, the path of a .pt2, .onnx or .graph.json file, or a name of the zoo.
    example_inputs: of a module: a tensor, a tuple of arguments, or a dict of keyword arguments.
    device: "h100", "a100@900" at a clock in MHz, "cpu" for this machine, a data sheet "my-gpu.json".
    batch: the batch; without, the one of the file or of the example. set: sizes of further symbols, {"sequence": 128}.
    mode: inference or training. precision: default (as PyTorch sets it), fp32, tf32, bf16, fp16, amp-bf16, amp-fp16, fp8. host: python, cpp or graph.
    memory_format: contiguous, or channels_last as after module.to(memory_format=torch.channels_last), on GPUs.
    clocks: SM clocks in MHz, "all" or "600:1440:120". power_limits: in watts, likewise.
    predictor: a .jcp file instead of the shipped one. database: whose operations count as measured.
    optimizer: sgd, momentum, adam or adamw, whose update is added to training; accumulate: passes before it; checkpointing: activations are
    computed anew in the backward pass.
    strict: operations without a record are an Error instead of a warning, and so is a network that does not fit into memory.
    options: optimizer_form, host_cpu, memory_clocks, pace, worker: as those of `joulecast predict`.

    A Forecast; where an argument is a list, or clocks or power_limits are given, a sequence of these, every combination of them.
    Error where it cannot be done, its subclasses UsageError for a wrong argument and ExportError where torch.export fails.
    """
    for name, value in (("mode", mode), ("precision", precision), ("memory_format", memory_format), ("host", host)):
        if isinstance(value, str) and "," in value:
            raise UsageError(f"several values of {name} are a list, not {value!r}")
    several = any(isinstance(value, (list, tuple)) for value in (model, device, batch, mode, precision, memory_format, host, *(set or {}).values()))
    several = several or clocks is not None or power_limits is not None
    wish = (asking.numbers(clocks), asking.numbers(power_limits), asking.numbers(options.pop("memory_clocks", None)))
    session = _native.Session(asking.path(predictor), asking.path(options.pop("db", database)))
    forecasts: list[Forecast] = []
    notes: list[str] = []
    with runs_of(model, example_inputs, listed(mode), batch) as runs:
        for run in runs:
            asked = {"precision": precision, "memory_format": memory_format, "host": host, "optimizer": optimizer, "accumulate": accumulate,
                     "checkpointing": checkpointing, **options}
            question = asking.question(run, device=device, set=set, options=asked)
            asking.refuse_others("predict", asked)
            question.set_clocks(*wish)
            predictions, said, unknown, fits = session.answer(question)
            if strict and (unknown or not fits):
                raise Error("\n".join(said))
            asking.warn_of_unknown_parts(unknown)
            own = run.notes + tuple(said)
            notes += [note for note in own if note not in notes]
            forecasts += [_sized(Forecast.of(found, own), run) for found in predictions]
    return Forecasts(forecasts, notes) if several else forecasts[0]


def _sized(forecast: Forecast, run: Run) -> Forecast:
    """A graph that was exported at one size has no symbol for it."""
    if run.fixed_batch is None or "batch" in forecast.symbols:
        return forecast
    return dataclasses.replace(forecast, symbols={"batch": run.fixed_batch, **forecast.symbols})
