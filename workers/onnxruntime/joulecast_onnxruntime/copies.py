"""One operation for an engine that is handed ONNX and keeps weights as constants: in so many copies, each with tensors of its own.

A run of a loaded model costs some microseconds, which a network's calls share; so do the copies. What an engine brings is
`load(writer, outputs, weights)`, which returns an object with

- `kernels`, empty where it runs nothing;
- `results(inputs)`: arrays, for inputs by name;
- `calls(sets, multiple)`: a workload (recipe.py) over sets of inputs in turn, one run of which makes `multiple` calls;
- `peak_memory_bytes()` and `message`, what is to be said of it.
"""
import math
import time

import numpy

from joulecast_measuring.contents import contents
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.serve import MOST_SETS, Trial
from joulecast_onnxruntime.translation import WEIGHTS, write
from joulecast_onnxruntime.writer import Call, Writer

# A run of all copies need not last longer: the other sets of inputs go to further runs.
LONGEST_RUN_S = 0.02
MOST_HOT_COPIES = 16


class CopiedOperation:
    """`engine` is its name in messages."""

    def __init__(self, engine, operation, request, load, most_copies):
        self.operation, self.request, self.load, self.most_copies = operation, request, load, most_copies
        self.runs_nothing = f"{engine} runs nothing for it: it is a view, or computed once when a model is loaded"
        has_strides = any(type_.strides for _, type_ in operation.tensors())
        self.message = f"measured contiguous: the ONNX that {engine} reads has no strides" if has_strides else ""
        weights = WEIGHTS.get(operation.name, ())
        self.items = [(argument in weights, type_, content)
                      for (argument, type_), content in zip(operation.tensors(), contents(operation))]
        self.weight_bytes = sum(type_.bytes for is_weight, type_, _ in self.items if is_weight)
        self.input_bytes = sum(type_.bytes for is_weight, type_, _ in self.items if not is_weight)

    def loaded(self, copies):
        """(the loaded model of so many copies, {input's name: its type and content})."""
        writer, outputs, weights, filling = Writer(), [], {}, {}
        for copy in range(copies):
            writer.current, values = copy, []
            for number, (is_weight, type_, content) in enumerate(self.items):
                name = f"input{copy}_{number}"
                values.append(writer.input(name, type_))
                if is_weight:
                    weights[name] = self.request.maker.make(type_, content)
                else:
                    filling[name] = (type_, content)
            outputs += [value for value in write(Call(writer, self.operation, values)) if value.name in writer.bytes]
        if not outputs or not filling:
            raise Unsupported(self.runs_nothing)
        return self.load(writer, outputs, weights), filling

    def inputs(self, filling):
        return {name: self.request.maker.make(*item) for name, item in filling.items()}

    def calls(self, copies, sets):
        made, filling = self.loaded(copies)
        return made.calls([self.inputs(filling) for _ in range(sets)], copies)

    def trial(self):
        made, filling = self.loaded(1)
        if not made.kernels:
            raise Unsupported(self.runs_nothing)
        said = [self.message, made.message]
        first = self.inputs(filling)
        if not all(numpy.isfinite(array).all() for array in made.results(first) if array.dtype.kind == "f"):
            said.append("the output holds infinities or NaN")
        once = made.calls([first], 1)
        start = time.perf_counter()
        once.run(1)
        rough_s = time.perf_counter() - start
        request, set_bytes = self.request, self.weight_bytes + self.input_bytes
        rotation = request.rotation(set_bytes)
        copies = min(rotation, self.most_copies, max(1, math.ceil(LONGEST_RUN_S / rough_s)))
        left = (rotation * set_bytes - copies * self.weight_bytes) / (copies * max(1, self.input_bytes))
        sets = min(max(1, math.ceil(left)), MOST_SETS // copies)
        hot_copies = int(min(max(request.cache_bytes / 4 // max(1, set_bytes), 1), MOST_HOT_COPIES, copies))
        return Trial(whole=None, make_whole=lambda: self.calls(copies, sets), make_exact=lambda: self.calls(1, rotation),
                     make_hot=(lambda: self.calls(hot_copies, 1)) if set_bytes < request.cache_bytes else None,
                     rotation=copies * sets, working_set_bytes=float(copies * (self.weight_bytes + sets * self.input_bytes)),
                     peak_memory_bytes=made.peak_memory_bytes, message="; ".join(filter(None, said)))
