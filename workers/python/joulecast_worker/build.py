"""What makes the calls of a trial: the extension asks this module, once for each measurement."""
from joulecast_worker.calls import Slot
from joulecast_worker.networks import network
from joulecast_worker.operations import operation

__all__ = ["Slot", "network", "operation"]
