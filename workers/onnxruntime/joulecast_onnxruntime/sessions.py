"""Sessions of ONNX Runtime, and calls through them over many sets of tensors."""
import errno
import math
import os
import shutil
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from joulecast_measuring.this_cpu import LEAST_ROOM_BYTES
from joulecast_onnxruntime.original import RENAMES

ALL = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
NONE = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
NCHWC_DOMAIN = "com.microsoft.nchwc"
# What ONNX cannot hold in one text; beyond it weights of the optimised model go to a file beside it.
MOST_TEXT_BYTES = 1 << 30


def options(request, level):
    chosen = onnxruntime.SessionOptions()
    chosen.intra_op_num_threads = request.threads
    chosen.inter_op_num_threads = 1
    chosen.graph_optimization_level = level
    chosen.log_severity_level = 4  # what fails is raised too
    if request.threads > 1:
        # Processors count from one, and the first thread is ours.
        places = ";".join(str(cpu + 1) for cpu in request.processors[1:request.threads])
        chosen.add_session_config_entry("session.intra_op_thread_affinities", places)
    return chosen


def session(model, chosen):
    return onnxruntime.InferenceSession(model if isinstance(model, bytes) else model.SerializeToString(), chosen,
                                        providers=["CPUExecutionProvider"])


def optimised(model, chosen, weights=None):
    """(the session, its model after all optimisations). `weights` are arrays that the model only names."""
    names = list(weights or {})
    if names:
        chosen.add_external_initializers(names, [onnxruntime.OrtValue.ortvalue_from_numpy(weights[name]) for name in names])
    large = sum(array.nbytes for array in (weights or {}).values()) > MOST_TEXT_BYTES
    with tempfile.TemporaryDirectory() as folder:
        chosen.optimized_model_filepath = os.path.join(folder, "optimised.onnx")
        if large:
            chosen.add_session_config_entry("session.optimized_model_external_initializers_file_name", "weights.bin")
            chosen.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
        try:
            made = session(model, chosen)
            return made, onnx.load(chosen.optimized_model_filepath, load_external_data=False)
        except Exception as error:
            if shutil.disk_usage(folder).free < LEAST_ROOM_BYTES:  # ONNX Runtime says that as anything else
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder) from error
            raise


def values_of(model, inputs, chosen):
    """(every value that the model's nodes make, by name; roughly how long they take). All of them are outputs of the run."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    del shown.graph.output[:]
    names = [name for node in model.graph.node for name in node.output if name]
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    made = session(shown, chosen)
    made.run(names, inputs)
    start = time.perf_counter()
    values = made.run(names, inputs)
    return dict(zip(names, values)), time.perf_counter() - start


def without_layout_changes(model, values):
    """The model of one operation with the layout of its tensors as a network has them in its middle: convolutions of a network hand each
    other blocked channels, and the change at its ends is no part of any one of them. `values` as values_of() has them."""
    graph = model.graph
    inner = [node for node in graph.node if node.domain == NCHWC_DOMAIN and node.op_type.startswith("Reorder")]
    if not inner or len(inner) == len(graph.node):
        return model
    inputs, outputs = {item.name for item in graph.input}, {item.name for item in graph.output}
    for node in inner:
        source, result = node.input[0], node.output[0]
        if node.op_type == "ReorderInput" and source in inputs:
            replace(graph.input, source, result, values[result])
        elif node.op_type == "ReorderOutput" and result in outputs:
            replace(graph.output, result, source, values[source])
        else:
            continue
        graph.node.remove(node)
    return model


def replace(items, name, by, array):
    kept = [item for item in items if item.name not in (name, by)]
    del items[:]
    items.extend(kept + [helper.make_tensor_value_info(by, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)])


def copies(model, count):
    """A model that does the same so many times over, each with its own inputs, results and weights."""
    source = model.graph
    many = onnx.ModelProto()
    many.CopyFrom(model)
    graph = many.graph
    for items in (graph.node, graph.input, graph.output, graph.initializer, graph.value_info):
        del items[:]
    arrays = {item.name: numpy_helper.to_array(item) for item in source.initializer}
    own = {name for name, array in arrays.items() if array.nbytes >= 256 and array.dtype.kind == "f"}
    graph.initializer.extend(item for item in source.initializer if item.name not in own)
    for number in range(count):
        def renamed(name):
            return name if not name or name in arrays and name not in own else f"{name}@{number}"
        for place, node in enumerate(source.node):
            made = graph.node.add()
            made.CopyFrom(node)
            made.name = f"{place}@{number}"  # ONNX Runtime leaves names out
            made.input[:] = [renamed(name) for name in node.input]
            made.output[:] = [renamed(name) for name in node.output]
        for old, new in ((source.input, graph.input), (source.output, graph.output)):
            for item in old:
                new.add().CopyFrom(item)
                new[-1].name = renamed(item.name)
        for name in own:
            # Other numbers in the same layout: what the optimiser brought into blocks stays so.
            graph.initializer.append(numpy_helper.from_array(numpy.roll(arrays[name], number), renamed(name)))
    return many


def byte_count(tensor):
    """Of an initializer, wherever its numbers are."""
    return math.prod(tensor.dims) * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


class Calls:
    """A model of `multiple` copies of an operation, run over several bindings of their inputs."""

    def __init__(self, made, multiple, bindings):
        self.session, self.multiple, self.bindings, self.next = made, multiple, bindings, 0

    def run(self, calls):
        run, bindings = self.session.run_with_iobinding, self.bindings
        for _ in range(calls // self.multiple):
            run(bindings[self.next])
            self.next = (self.next + 1) % len(bindings)


def binding(made, inputs, outputs):
    """`inputs` and `outputs`: arrays by name."""
    bound = made.io_binding()
    bound.arrays = inputs, outputs  # ONNX Runtime 1.19, the last one for Python 3.9, does not keep them
    for name, array in inputs.items():
        bound.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for name, array in outputs.items():
        bound.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    return bound


def peak_bytes(graph, sizes, kept=()):
    """Most bytes of values that are alive at once while the nodes run in order; `sizes` by name, `kept` live to the end. A node that only
    gives a value another shape hands on its memory."""
    source = {node.output[0]: node.input[0] for node in graph.node if node.op_type in RENAMES}

    def memory(name):
        while name in source:
            name = source[name]
        return name
    last = {memory(name): number for number, node in enumerate(graph.node) for name in (*node.output, *node.input)}
    last |= {memory(name): len(graph.node) for name in kept}
    alive = peak = 0
    for number, node in enumerate(graph.node):
        alive += sum(sizes.get(name, 0) for name in node.output if name not in source)
        peak = max(peak, alive)
        ended = {memory(name) for name in (*node.input, *node.output)}
        alive -= sum(sizes.get(name, 0) for name in ended if last[name] == number)
    return peak
