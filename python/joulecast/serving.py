"""joulecast.Service: forecasts for a search."""
from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from typing import Any, Union

from joulecast import _native
from joulecast.asking import UnknownPartsWarning
from joulecast.predicting import Forecast

Request = Union[str, float, bool]


class Service:
    """Forecasts one network after another; devices, networks and operations stay loaded, so that a call costs what is new in it.

    device: of calls that name none. predictor, database, strict: as for predict().
    Several threads may ask at once; the interpreter's lock is released while it works.
    """

    def __init__(self, device: str = "", *, predictor: str | os.PathLike[str] = "", database: str | os.PathLike[str] = "", strict: bool = False) -> None:
        self._native = _native.PredictService(device, os.fspath(predictor), os.fspath(database), strict)

    def predict(self, model: str | os.PathLike[str] | Mapping[str, Any], *, device: str | None = None, batch: int | None = None,
                set: Mapping[str, int] | None = None, operations: bool = True, **request: Request) -> Forecast:
        """A forecast as predict() makes it, at one setting.

        model: the path of a file, a name of the zoo, or the object of a .graph.json (docs/graph-json.md).
        operations: whether the forecast lists them; without, a call is quicker.
        request: further keys of a request of `joulecast predict --stdin`: mode, precision, host, clock_mhz, power_limit_w, optimizer, ...
        """
        symbols = dict(set or {})
        if batch is not None:
            symbols["batch"] = batch
        whole: dict[str, Any] = {"graph": dict(model)} if isinstance(model, Mapping) else {"model": os.fspath(model)}
        whole.update(request, operations=operations)
        if symbols:
            whole["symbols"] = symbols
        if device is not None:
            whole["device"] = device
        answer = json.loads(self._native.answer(json.dumps(whole)))
        if "error" in answer:
            raise (_native.UsageError if answer["status"] == _WRONG_USAGE else _native.Error)(answer["error"])
        del answer["id"]  # ours, and of no use to a caller who waits
        notes = (answer.get("predictor_note", ""), *answer.pop("notes", ()))
        forecast = Forecast.of(answer, tuple(filter(None, notes)))
        if forecast.unknown_nodes:
            warnings.warn(f"{forecast.model}: calls without a record: {', '.join(forecast.unknown_operations)}", UnknownPartsWarning, stacklevel=2)
        return forecast


_WRONG_USAGE = 2
