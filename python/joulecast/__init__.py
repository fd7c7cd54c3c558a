"""Time, energy and power of Python code, on joulecast's meters.

    import joulecast

    with joulecast.measure(idle_s=5) as m:
        train()
    print(m.time_s, m.energy_j, m.power_w, m.energy_missing_reason)
"""
from joulecast.measuring import Measured, measure

__all__ = ["Measured", "measure"]
