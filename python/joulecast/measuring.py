"""The context manager: joulecast.measure()."""
from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
import time
from collections.abc import Iterator

from joulecast import _native

# A meter that renews itself rarely is waited for this long after the end.
LINGER_S = 0.5


@dataclasses.dataclass
class Measured:
    """What the body of `with joulecast.measure()` took. Filled in when the body ends, by an exception too; None: not measured."""
    time_s: float | None = None
    """Seconds of the body, until GPUs that torch has work on are done."""
    energy_j: float | None = None
    """Joules of the body, all that the meter covers."""
    power_w: float | None = None
    """Mean power of the body in watts."""
    peak_power_w: float | None = None
    """Highest power sample of the body in watts."""
    idle_power_w: float | None = None
    """Mean power in watts before the body, if `idle_s` was given."""
    dynamic_energy_j: float | None = None
    """Joules above idle power: energy_j - idle_power_w * time_s."""
    trace: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    """(seconds since the body began, watts); negative seconds are the idle baseline."""
    meter: str | None = None
    """Name of the meter, as the rows of a dataset have it."""
    energy_missing_reason: str | None = None
    """Why energy_j is None and what would help; None where there is energy."""


@contextlib.contextmanager
def measure(meter: str = "auto", device: str = "cpu", idle_s: float = 0.0, period_s: float = 0.05) -> Iterator[Measured]:
    """Measures the body of a `with` statement.

    meter: auto, none, rapl, hwmon[:CHIP], nvml[:GPU], nvidia-smi[:GPU], command:CMD or replay:FILE. ValueError if there is no such kind.
    device: what `auto` looks for: "cpu", or "cuda:0" for a GPU.
    idle_s: seconds of idle baseline before the body; 0 for none.
    period_s: seconds between looks at the meter.
    """
    if not 0.0 <= idle_s < math.inf or not 0.0 < period_s < math.inf:
        raise ValueError(f"idle_s must be 0 or more and period_s above 0, given were {idle_s} and {period_s}")
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or number and not number.isdigit():
        raise ValueError(f'device must be "cpu" or "cuda:0", "cuda:1" and so on, given was {device!r}')
    recording = _open(meter, kind == "cuda", number or "0")
    result = Measured()
    recording.start(period_s)
    idle_start = time.monotonic()
    try:
        time.sleep(idle_s)
        _wait_for_gpus()
    except BaseException:
        recording.stop(0.0)
        raise
    start = time.monotonic()
    try:
        yield result
    finally:
        _wait_for_gpus()
        end = time.monotonic()
        recording.stop(LINGER_S)
        _fill(result, recording, idle_start, start, end)


def _open(meter: str, for_gpu: bool, gpu: str) -> _native.Recording:
    try:
        return _native.Recording(meter, for_gpu, gpu)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _wait_for_gpus() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _fill(result: Measured, recording: _native.Recording, idle_start: float, start: float, end: float) -> None:
    result.time_s = end - start
    result.meter = recording.meter or None
    *numbers, reason = recording.between(start, end)
    energy, power, peak = map(_known, numbers)
    result.energy_j, result.power_w, result.peak_power_w = energy, power, peak
    if energy is None:
        result.energy_missing_reason = reason or "the meter gave too few readings for this time"
    if start - idle_start > 0.001:
        result.idle_power_w = _known(recording.between(idle_start, start)[1])
    if energy is not None and result.idle_power_w is not None:
        result.dynamic_energy_j = energy - result.idle_power_w * result.time_s
    result.trace = [(at - start, watts) for at, watts in recording.samples()]
