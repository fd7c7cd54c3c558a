"""What users write, for mypy --strict (tools/test_wheel.sh): the types that they rely on. Never run."""
from typing import Any

import joulecast

one: joulecast.Forecast = joulecast.predict("resnet18", device="a100", batch=4)
seconds: float = one.time_s.value if one.time_s else 0.0
several: joulecast.Forecasts = joulecast.predict("resnet18", device=["a100", "h100"], batch=[4, 8])
names: list[str] = [forecast.model for forecast in several]
at_clocks: joulecast.Forecasts = joulecast.predict("resnet18", device="a100", clocks="all")
records: list[dict[str, Any]] = at_clocks[:2].to_records()
flops: int = joulecast.extract("resnet18", batch=4).flops
counted: joulecast.Extractions = joulecast.extract(["resnet18", "alexnet"])
best: joulecast.Recommendation = joulecast.recommend("resnet18", device=["a100", "l4"], device_price={"a100": 3.0, "l4": 0.5}, minimise="price")
saved: float | None = best.saving["energy"].low
served: joulecast.Forecast = joulecast.Service("a100").predict("resnet18", batch=4, mode="training", clock_mhz=900)
with joulecast.measure(meter="none") as measured:
    pass
joules: float | None = measured.energy_j
