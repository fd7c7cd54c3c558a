"""What a neural network will cost (seconds, joules, bytes) before anyone runs it.

    import joulecast

    forecast = joulecast.predict(model, (example,), device="h100", batch=32)
    print(forecast)
    print(forecast.time_s.value, forecast.energy_j)

    joulecast.predict(["resnet50", "vit_b_16"], device=["h100", "a100"], batch=[1, 8, 32]).to_pandas()
    joulecast.recommend("resnet50", device=["h100", "l4"], batch=[8, 32], minimise="energy").sentence

    with joulecast.measure(idle_s=5) as m:
        train()
    print(m.time_s, m.energy_j, m.power_w, m.energy_missing_reason)

docs/python.md tells more.
"""
from joulecast._native import Error, UsageError, __version__
from joulecast.asking import UnknownPartsWarning
from joulecast.estimate import Estimate
from joulecast.exporting import ExportError
from joulecast.extracting import Extraction, Extractions, OperationCount, extract
from joulecast.measuring import Measured, measure
from joulecast.predicting import Forecast, Forecasts, OperationForecast, predict
from joulecast.recommending import Candidate, Recommendation, recommend
from joulecast.results import Results
from joulecast.serving import Service

__all__ = [
    "Candidate", "Error", "Estimate", "ExportError", "Extraction", "Extractions", "Forecast", "Forecasts", "Measured", "OperationCount",
    "OperationForecast", "Recommendation", "Results", "Service", "UnknownPartsWarning", "UsageError", "__version__", "extract", "measure", "predict", "recommend",
]
