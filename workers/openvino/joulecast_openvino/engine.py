"""OpenVINO's CPU plugin as an engine of joulecast_measuring.serve."""
import os

import numpy
import openvino
from onnx import numpy_helper
from openvino.preprocess import PrePostProcessor

from joulecast_measuring.contents import input_contents
from joulecast_measuring.requests import Unsupported
from joulecast_measuring.serve import Trial, told_kernels
from joulecast_onnxruntime.copies import CopiedOperation
from joulecast_onnxruntime.network import NetworkWriter, refuse_without_form
from joulecast_onnxruntime.original import Original
from joulecast_openvino.kernels import GLUE, kernels, peak_bytes

MOST_COPIES = 64
CHANNELS_LAST = "measured with channels last, as OpenVINO lays images out within a network"
IMAGE_RANK = 4
LAYOUTS = {"Transpose", "Reorder"}


class Calls:
    """Requests of a compiled model in turn, each with tensors of its own; one run of it makes `multiple` calls."""

    def __init__(self, requests, multiple):
        self.requests, self.multiple, self.next = requests, multiple, 0

    def run(self, calls):
        for _ in range(calls // self.multiple):
            self.requests[self.next].infer()
            self.next = (self.next + 1) % len(self.requests)


class CountedCalls(Calls):
    """Of a model that counts what each of its steps takes, `left_out` the kinds that are not the calls' own."""

    def __init__(self, requests, multiple, left_out):
        super().__init__(requests, multiple)
        self.left_out = left_out

    def own_s(self):
        """Seconds of a call in the mean of all runs, without changes of layout and the copy of a result to its tensor, which a network's
        calls hand on to each other."""
        steps = self.requests[0].get_profiling_info()
        return sum(step.real_time.total_seconds() for step in steps if step.node_type not in self.left_out) / self.multiple


class Loaded:
    """A written model, compiled for so many threads. `weights` are arrays of those inputs that are constants; with `channels_last` images
    are handed over and given back so. What `is_alone`, an operation, is timed by OpenVINO's counters of steps."""

    def __init__(self, core, writer, outputs, weights, request, channels_last=False, is_alone=False):
        self.message, self.channels_last = CHANNELS_LAST if channels_last else "", channels_last
        self.writer, self.counts = writer, is_alone
        writer.inputs = [item for item in writer.inputs if item.name not in weights]
        for name, array in weights.items():
            writer.initializers.append(numpy_helper.from_array(array, name))
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, request.processors[:request.threads])  # threads that OpenVINO starts stay on these
        # float32 is computed as such: on processors with bfloat16 the default is another.
        options = {"INFERENCE_NUM_THREADS": request.threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32", "PERF_COUNT": is_alone}
        try:
            model = core.read_model(writer.model(outputs).SerializeToString())
            self.compiled = core.compile_model(with_channels_last(model) if channels_last else model, "CPU", options)
        except RuntimeError as error:
            raise Unsupported(f"OpenVINO: {last_line(error)}") from None
        threads = self.compiled.get_property("INFERENCE_NUM_THREADS")
        if threads != request.threads:
            raise Unsupported(f"OpenVINO runs {threads} threads where {request.threads} were asked for")

    @property
    def kernels(self):
        return kernels(Original.of(self.writer), self.compiled.get_runtime_model())

    def peak_memory_bytes(self):
        return peak_bytes(self.compiled.get_runtime_model())

    def request(self, inputs, outputs=()):
        made = self.compiled.create_infer_request()
        for port in self.compiled.inputs:
            array = inputs[port.any_name]
            if self.channels_last and array.ndim == IMAGE_RANK:
                array = numpy.ascontiguousarray(array.transpose(0, 2, 3, 1))
            made.set_tensor(port, openvino.Tensor(array))
        for port, array in zip(self.compiled.outputs, outputs):
            made.set_tensor(port, openvino.Tensor(array))
        return made

    def results(self, inputs):
        made = self.request(inputs)
        made.infer()
        return [numpy.array(tensor.data) for tensor in made.output_tensors]

    def calls(self, sets, multiple):
        # Results go where the last ones went, as an allocator hands out memory, and not to pages that nobody has touched.
        outputs = [numpy.full(port.shape, 1, port.element_type.to_dtype()) for port in self.compiled.outputs]
        requests = [self.request(inputs, outputs) for inputs in sets]
        if not self.counts:
            return Calls(requests, multiple)
        return CountedCalls(requests, multiple, LAYOUTS if self.channels_last else ())


def with_channels_last(model):
    """The model with images in and out laid out so; its other tensors stay as they are."""
    changed = PrePostProcessor(model)
    for sides, side in ((model.inputs, changed.input), (model.outputs, changed.output)):
        for number, port in enumerate(sides):
            if len(port.shape) == IMAGE_RANK:
                side(number).tensor().set_layout(openvino.Layout("NHWC"))
                side(number).model().set_layout(openvino.Layout("NCHW"))
    return changed.build()


def has_images(operation):
    """Its first tensor is images, as ONNX has them."""
    types = [type_ for _, type_ in operation.tensors()]
    return operation.is_of_images and len(types[0].sizes) == IMAGE_RANK and not any(type_.strides for type_ in types)


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
        # Now that nothing is pinned: OpenVINO counts the processors once, and never runs more threads than it found.
        self.core.get_property("CPU", "FULL_DEVICE_NAME")

    def operation(self, operation, request):
        load = lambda writer, outputs, weights: Loaded(self.core, writer, outputs, weights, request, has_images(operation), is_alone=True)
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
