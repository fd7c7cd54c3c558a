"""What several translations need of their arguments."""
import numpy

INT_MAX = 2**63 - 1


def broadcast(*shapes):
    return tuple(numpy.broadcast_shapes(*shapes))


def listed(value, count):
    """An argument of so many integers, which may be given as one."""
    values = list(value) if isinstance(value, list) else [value]
    return values * count if len(values) == 1 else values
