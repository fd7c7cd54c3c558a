"""OpenVINO's CPU plugin as an engine of joulecast_measuring.serve."""
import os

import numpy
import openvino
from onnx import numpy_helper

from joulecast_measuring.contents import input_contents
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.serve import Trial, told_kernels
from joulecast_onnxruntime.copies import CopiedOperation
from joulecast_onnxruntime.network import NetworkWriter, refuse_without_form
from joulecast_onnxruntime.original import Original
from joulecast_openvino.kernels import GLUE, kernels, peak_bytes

MOST_COPIES = 64


class Calls:
    """Requests of a compiled model in turn, each with tensors of its own; one run of it makes `multiple` calls."""

    def __init__(self, requests, multiple):
        self.requests, self.multiple, self.next = requests, multiple, 0

    def run(self, calls):
        for _ in range(calls // self.multiple):
            self.requests[self.next].infer()
            self.next = (self.next + 1) % len(self.requests)


class Loaded:
    """A written model, compiled for so many threads. `weights` are arrays of those inputs that are constants."""
    message = ""

    def __init__(self, core, writer, outputs, weights, request):
        writer.inputs = [item for item in writer.inputs if item.name not in weights]
        for name, array in weights.items():
            writer.initializers.append(numpy_helper.from_array(array, name))
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, request.processors[:request.threads])  # threads that OpenVINO starts stay on these
        # float32 is computed as such: on processors with bfloat16 the default is another.
        options = {"INFERENCE_NUM_THREADS": request.threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        try:
            self.compiled = core.compile_model(core.read_model(writer.model(outputs).SerializeToString()), "CPU", options)
        except RuntimeError as error:
            raise Unsupported(f"OpenVINO: {last_line(error)}") from None
        self.writer = writer

    @property
    def kernels(self):
        return kernels(Original.of(self.writer), self.compiled.get_runtime_model())

    def peak_memory_bytes(self):
        return peak_bytes(self.compiled.get_runtime_model())

    def request(self, inputs):
        made = self.compiled.create_infer_request()
        for port in self.compiled.inputs:
            made.set_tensor(port, openvino.Tensor(inputs[port.any_name]))
        return made

    def results(self, inputs):
        made = self.request(inputs)
        made.infer()
        return [numpy.array(tensor.data) for tensor in made.output_tensors]

    def calls(self, sets, multiple):
        return Calls([self.request(inputs) for inputs in sets], multiple)


def last_line(error):
    """Where OpenVINO says what it could not do; before it stand its source files."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


class OpenVino:
    name, worker, host = "openvino", "joulecast-openvino", "cpp"
    framework = f"openvino {openvino.__version__.partition('-')[0]}"
    dtypes = ["f32"]
    measures_graphs = True
    most_threads = None

    def __init__(self):
        self.core = openvino.Core()

    def operation(self, operation, request):
        load = lambda writer, outputs, weights: Loaded(self.core, writer, outputs, weights, request)
        return CopiedOperation("OpenVINO", operation, request, load, MOST_COPIES).trial()

    def network(self, graph, request):
        refuse_without_form(graph)
        network, filling = NetworkWriter(graph), input_contents(graph)
        outputs, writer = network.write(), network.writer
        arrays = {number: request.maker.make(item.type, content) for number, (item, content) in enumerate(zip(graph.inputs, filling))}
        made = Loaded(self.core, writer, outputs, {name: arrays[number] for name, number in network.weights.items()}, request)
        inputs = {f"input.{number}": array for number, array in arrays.items()}
        return Trial(whole=made.calls([inputs], 1), resident_bytes=float(sum(item.type.bytes for item in graph.inputs)),
                     peak_memory_bytes=made.peak_memory_bytes, more=told_kernels(made.kernels, glue=GLUE.__contains__))
