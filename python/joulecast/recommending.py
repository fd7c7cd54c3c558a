"""joulecast.recommend()."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from joulecast import _native, asking, pages
from joulecast._native import Error, UsageError
from joulecast.estimate import Estimate, add_to
from joulecast.exporting import ExportError, Model, listed, runs_of
from joulecast.results import Results


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to run the network: a device, a clock, a size, a precision."""
    device: str
    clock_mhz: float | None
    """SM clock asked for; None: as the device comes."""
    real_clock_mhz: float | None
    power_limit_w: float | None
    mode: str
    precision: str
    symbols: dict[str, int]
    samples_per_run: float | None
    time_s: Estimate | None
    energy_j: Estimate | None
    power_w: Estimate | None
    memory_bytes: Estimate | None
    tokens_per_s: float | None
    energy_per_token_j: float | None
    value: float | None
    """Of the objective, per sample."""
    feasible: bool
    unfit: str
    """Why it is never taken; empty where it may be."""
    pareto: bool
    """Nothing is better in both time and energy."""
    chance_best: float | None
    raw: dict[str, Any] = dataclasses.field(repr=False)

    @staticmethod
    def of(found: dict[str, Any]) -> Candidate:
        fields: dict[str, Any] = {name: found.get(name) for name in _PLAIN}
        fields.update({name: Estimate.of(found.get(name)) for name in _ESTIMATES})
        return Candidate(**fields, symbols=dict(found["symbols"]), raw=found)

    def to_record(self) -> dict[str, Any]:
        record: dict[str, Any] = {"device": self.device, "clock_mhz": self.clock_mhz, "mode": self.mode, "precision": self.precision, **self.symbols}
        for name in _ESTIMATES:
            add_to(record, name, getattr(self, name))
        record.update({name: getattr(self, name) for name in _PLAIN if name not in record})
        return record


_ESTIMATES = ("time_s", "energy_j", "power_w", "memory_bytes")
_PLAIN = ("device", "clock_mhz", "real_clock_mhz", "power_limit_w", "mode", "precision", "samples_per_run", "tokens_per_s", "energy_per_token_j",
          "value", "feasible", "unfit", "pareto", "chance_best")
_WHOLE = ("model", "sentence", "feasible", "chance_best", "chance_within_1_percent", "command", "undo_command")


@dataclasses.dataclass(frozen=True)
class Recommendation:
    """What to run, and what it saves."""
    model: str
    sentence: str
    """The whole answer; where nothing holds the limits, which one binds and by how much."""
    feasible: bool
    answer: Candidate | None
    """None where nothing holds the limits."""
    runner_up: Candidate | None
    default: Candidate | None
    """The answer's device as it comes, at the same size and precision."""
    saving: dict[str, Estimate]
    """Shares saved against `default`, by objective."""
    chance_best: float | None
    chance_within_1_percent: float | None
    command: str | None
    """Sets the clock or limit."""
    undo_command: str | None
    pareto_front: tuple[Candidate, ...] = dataclasses.field(repr=False)
    candidates: Results[Candidate] = dataclasses.field(repr=False)
    """Every setting that was searched."""
    decode: Recommendation | None = dataclasses.field(repr=False)
    """Of a language model of the zoo: the step that makes one further token."""
    notes: tuple[str, ...] = dataclasses.field(repr=False)
    raw: dict[str, Any] = dataclasses.field(repr=False)

    @staticmethod
    def of(found: dict[str, Any], notes: tuple[str, ...] = ()) -> Recommendation:
        """Out of joulecast.recommendation/1."""
        def candidate(name: str) -> Candidate | None:
            return Candidate.of(found[name]) if found.get(name) else None
        savings = {name: Estimate.of(saved) for name, saved in (found.get("saving") or {}).items()}
        decode = found.get("decode")
        plain: dict[str, Any] = {name: found.get(name) for name in _WHOLE}
        return Recommendation(
            **plain, answer=candidate("answer"), runner_up=candidate("runner_up"), default=candidate("default"),
            saving={name: saved for name, saved in savings.items() if saved}, pareto_front=tuple(map(Candidate.of, found["pareto_front"])),
            candidates=Results(map(Candidate.of, found["candidates"]), notes),
            decode=Recommendation.of(decode, notes) if decode else None, notes=notes, raw=found)

    def __str__(self) -> str:
        return self.sentence

    def to_records(self) -> list[dict[str, Any]]:
        """One row for each candidate."""
        return self.candidates.to_records()

    def to_pandas(self) -> Any:
        return self.candidates.to_pandas()

    def _repr_html_(self) -> str:
        named = [(name, candidate) for name, candidate in
                 (("answer", self.answer), ("runner-up", self.runner_up), ("as it comes", self.default)) if candidate]
        rows = [(name, c.device, "–" if c.clock_mhz is None else f"{c.clock_mhz:.0f} MHz", pages.symbols(c.symbols), c.precision,
                 pages.interval(c.time_s, "s"), pages.interval(c.energy_j, "J")) for name, c in named]
        text = pages.paragraphs([self.sentence]) + pages.table(("", "device", "clock", "sizes", "precision", "time (90 %)", "energy (90 %)"), rows)
        text += pages.paragraphs([self.command] if self.command else []) + pages.paragraphs(self.notes)
        return text + (self.decode._repr_html_() if self.decode else "")


def recommend(model: Model, example_inputs: Any = None, *, device: str | list[str], minimise: str = "energy", batch: int | list[int] | None = None,
              set: Mapping[str, int | list[int]] | None = None, mode: str | list[str] = "inference", precision: str | list[str] = "default",
              host: str = "python", clocks: str | float | list[float] | None = None, power_limits: str | float | list[float] | None = None,
              max_time_s: float | None = None, max_power_w: float | None = None, max_memory_bytes: float | None = None,
              max_price: float | None = None, max_hours: float | None = None, samples: float | None = None,
              electricity_price: float | None = None, device_price: float | Mapping[str, float] | None = None, carbon: float | None = None,
              predictor: str | os.PathLike[str] | None = None, strict: bool = False, **options: str | float | bool | None) -> Recommendation:
    """On which device, at which clock, batch and precision the network should run.

    minimise: energy, time, edp, ed2p, price or carbon, per sample. max_...: limits on a run, that is a batch (max_hours: on the job of
    `samples`; max_price: of the job, without one of a sample). electricity_price per kWh; device_price per hour, one for all or by device;
    carbon in grams per kWh. Other arguments are those of predict(); clocks are all that the device has unless they are given.

    Where nothing holds the limits, `answer` is None and `sentence` says which limit binds and by how much.
    """
    goal: _native.Goal = asking.taken("minimise", _native.Goal, minimise)
    for name, value in (("max_time", max_time_s), ("max_power", max_power_w), ("max_memory", max_memory_bytes), ("max_price", max_price),
                        ("max_hours", max_hours), ("samples", samples), ("electricity_price", electricity_price), ("carbon", carbon)):
        if value is not None:
            asking.taken(name, getattr(goal, "set_" + name), value)
    asked = {"precision": _split(precision), "host": host, **options}
    database = asking.path(asked.pop("db", None))
    with runs_of(model, example_inputs, listed(mode), batch) as runs:
        if len(runs) > 1:
            fixed = [run for run in runs if run.notes]
            if fixed:
                raise ExportError(f"batches cannot be compared: {fixed[0].notes[0]}")
            raise UsageError("modes of a module cannot be compared with each other: they are two graphs. Ask for one at a time")
        run = runs[0]
        question = asking.question(run, device=_split(device), set=set, options=asked)
        asking.refuse_others("recommend", asked)
        found, said, unknown = asking.taken("device_price", _native.recommend, question, goal, _prices(device_price), asking.numbers(clocks),
                                            asking.numbers(power_limits), asking.path(predictor), database)
    if strict and (unknown or not found["feasible"]):
        raise Error("\n".join(said))
    asking.warn_of_unknown_parts(unknown)
    return Recommendation.of(found, tuple(note for note in (*run.notes, *said) if note != found["sentence"]))


def _prices(device_price: float | Mapping[str, float] | None) -> dict[str, float]:
    """By device; "" is that of all others."""
    if device_price is None:
        return {}
    return dict(device_price) if isinstance(device_price, Mapping) else {"": device_price}


def _split(words: object) -> object:
    """Several words in one text, as the command line has them."""
    return words.split(",") if isinstance(words, str) else words
