"""Calls and graphs as FX modules, and the tensors that go into them."""
import operator

import torch

from joulecast_measuring.requests import Unsupported
from joulecast_measuring.signature import TensorType

TORCH = {"u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "f16": torch.float16,
         "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "bool": torch.bool}


def overload(target):
    namespace, _, rest = target.partition("::")
    name, _, overload_name = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), name), overload_name or "default")
    except AttributeError:
        raise Unsupported(f"torch has no operation {target}") from None


def tensor(type_, content, maker):
    """With the strides of its type, in storage of its own."""
    if type_.dtype not in TORCH:
        raise Unsupported(f"joulecast-torch-compile makes no tensors of {type_.dtype}")
    drawn = TensorType("f32", type_.sizes) if type_.dtype == "bf16" else TensorType(type_.dtype, type_.sizes)
    plain = torch.from_numpy(maker.make(drawn, content)).to(TORCH[type_.dtype])
    if type_.strides is None:
        return plain
    strided = torch.empty_strided(type_.sizes, type_.strides, dtype=plain.dtype)
    # An expanded dimension is one place in memory: its first numbers fill it.
    first = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in type_.strides)
    strided[first].copy_(plain[first])
    return strided


def add_call(graph, operation, tensors):
    """The node of one call in an FX graph; `tensors` are nodes, in the order of the operation's tensors."""
    function = overload(operation.target)
    arguments = operation.filled(tensors, dtype=TORCH.__getitem__)
    if any(argument.name == "device" and not argument.has_default_value() for argument in function._schema.arguments):
        arguments["device"] = torch.device("cpu")  # no part of a signature
    return graph.call_function(function, (), arguments)


def calls_in(graph):
    """Nodes of calls; taking one of several results apart is none."""
    return [node for node in graph.nodes if node.op == "call_function" and node.target is not operator.getitem]


def returns_several(operation):
    returned = overload(operation.target)._schema.returns
    return len(returned) != 1 or "[]" in str(returned[0].type) or "List" in str(returned[0].type)


# Views where strides allow it, which they do not say themselves.
RESHAPES = {"reshape", "flatten", "contiguous", "_unsafe_view"}


def is_view(operation):
    """Its result is another way to read its input."""
    returned = overload(operation.target)._schema.returns
    return operation.name in RESHAPES or any(item.alias_info is not None and not item.alias_info.is_write for item in returned)


def module_of_call(operation):
    graph = torch.fx.Graph()
    inputs = [graph.placeholder(f"x{number}") for number in range(len(operation.tensors()))]
    graph.output(add_call(graph, operation, inputs))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def module_of_graph(given):
    """(module of all calls in order, numbers of the graph's nodes that its calls are)."""
    graph, values, numbers = torch.fx.Graph(), {}, []
    for number in range(len(given.inputs)):
        values[-1, number] = graph.placeholder(f"x{number}")
    for number, node in enumerate(given.nodes):
        if node.operation.is_arithmetic_on_sizes:
            continue
        made = add_call(graph, node.operation, [values[reference] for reference in node.inputs])
        numbers.append(number)
        if returns_several(node.operation):
            for output in range(len(node.outputs)):
                values[number, output] = graph.call_function(operator.getitem, (made, output))
        else:
            values[number, 0] = made
    graph.output([values[reference] for reference in given.outputs if reference in values])
    # What nobody reads would not be handed over: then calls could not be told apart by their order.
    calls = dict(zip(calls_in(graph), numbers, strict=True))
    graph.eliminate_dead_code()
    return torch.fx.GraphModule(torch.nn.Module(), graph), [calls[node] for node in calls_in(graph)]
