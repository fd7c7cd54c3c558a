"""What every worker in Python needs, whatever its engine: the protocol's loop, signatures, the timing recipe, contents, facts of the CPU.

docs/worker-protocol.md says what a worker promises; examples/worker has one of a hundred lines on top of this package. It needs numpy
and nothing else, and no joulecast.
"""
