"""torch.compile with Inductor as an engine of joulecast_measuring.serve."""
import dataclasses
import math

import torch
from torch._inductor.compile_fx import compile_fx

from joulecast_measuring.contents import contents, input_contents
from joulecast_measuring.serve import Trial, told_kernels
from joulecast_measuring.signature import DTYPES, Operation, channels_last_strides
from joulecast_torch_compile.kernels import Backend, without_views
from joulecast_torch_compile.modules import is_view, module_of_call, module_of_graph, tensor

CHANNELS_LAST = "measured with channels last, as Inductor lays images out within a network"


class Calls:
    """A compiled module over sets of tensors in turn."""
    multiple = 1

    def __init__(self, module, sets):
        self.module, self.sets, self.next = module, sets, 0

    def run(self, calls):
        module, sets = self.module, self.sets
        with torch.inference_mode():
            for _ in range(calls):
                module(*sets[self.next])
                self.next = (self.next + 1) % len(sets)


def compiled(module, tensors):
    """What Inductor makes of one call for these tensors, and its results. A call goes straight to it: Dynamo's guards, some tens of
    microseconds, are checked once for a whole network."""
    with torch.inference_mode():
        made = compile_fx(module, tensors)
        return made, flat(made(*tensors))


def compiled_network(module, numbers, tensors):
    """(the module compiled whole for these tensors, its kernels): what would fall back to calls of Python is an error."""
    torch._dynamo.reset()  # what was compiled before is not tried first
    backend = Backend(module, numbers)
    made = torch.compile(module, fullgraph=True, dynamic=False, backend=backend)
    with torch.inference_mode():
        made(*tensors)
    return made, backend.kernels


def flat(results):
    return [result for result in (results if isinstance(results, (list, tuple)) else [results]) if isinstance(result, torch.Tensor)]


def with_channels_last(operation):
    """The operation on an image with channels last; the same where it is on none, or has strides of its own."""
    name, type_ = next(iter(operation.tensors()), ("", None))
    if not operation.is_of_images or type_.strides is not None or not (strides := channels_last_strides(type_.sizes)):
        return operation
    return Operation(operation.target, operation.arguments | {name: dataclasses.replace(type_, strides=strides)})


def peak_bytes(module, tensors):
    """Most that the CPU's allocator handed out at once in one call, as its profiler reports it."""
    with torch.inference_mode(), torch.profiler.profile(profile_memory=True) as profile:
        module(*tensors)
    alive = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            alive += event.nbytes()
            peak = max(peak, alive)
    return peak


def functional(operation):
    """The same operation with a result of its own."""
    base, dot, rest = operation.target.partition(".")
    return Operation(base.removesuffix("_") + dot + rest, operation.arguments)


def span_bytes(type_):
    """Of storage, gaps included; an expanded dimension takes none."""
    if type_.strides is None or not type_.elements:
        return type_.bytes
    return DTYPES[type_.dtype] * (1 + sum((size - 1) * stride for size, stride in zip(type_.sizes, type_.strides)))


class TorchCompile:
    name, worker, host = "torch-compile", "joulecast-torch-compile", "python"
    framework = f"torch-compile {torch.__version__}"
    dtypes = ["f32", "bf16", "f16", "f64"]
    measures_graphs = True
    most_threads = None

    def operation(self, operation, request):
        torch.set_num_threads(request.threads)
        said = []
        if operation.is_in_place:
            operation = functional(operation)
            said.append(f"measured as {operation.target}: Inductor writes to no input within a network")
        laid_out = with_channels_last(operation)
        if laid_out is not operation:
            operation = laid_out
            said.append(CHANNELS_LAST)
        types = [type_ for _, type_ in operation.tensors()]
        filling = list(zip(types, contents(operation)))
        size = sum(map(span_bytes, types))
        rotation = request.rotation(size)
        sets = [[tensor(type_, content, request.maker) for type_, content in filling] for _ in range(rotation)]
        module, results = compiled(module_of_call(operation), sets[0])
        if not all(torch.isfinite(result).all() for result in results if result.is_floating_point()):
            said.append("the output holds infinities or NaN")
        return Trial(whole=Calls(module, sets), make_hot=(lambda: Calls(module, sets[:1])) if size < request.cache_bytes else None,
                     rotation=rotation, working_set_bytes=float(rotation * size), peak_memory_bytes=lambda: peak_bytes(module, sets[0]),
                     message="; ".join(said))

    def network(self, graph, request):
        torch.set_num_threads(request.threads)
        module, numbers = module_of_graph(graph)
        tensors = [tensor(item.type, content, request.maker) for item, content in zip(graph.inputs, input_contents(graph))]
        made, found = compiled_network(module, numbers, tensors)
        views = {number for number in numbers if is_view(graph.nodes[number].operation)}
        more = {} if found is None else told_kernels(without_views(found, views))
        return Trial(whole=Calls(made, [tensors]), resident_bytes=float(math.fsum(span_bytes(item.type) for item in graph.inputs)),
                     peak_memory_bytes=lambda: peak_bytes(made, tensors), more=more)
