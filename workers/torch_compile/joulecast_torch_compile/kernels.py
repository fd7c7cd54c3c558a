"""What Inductor made of a network: which of its kernels do which of its calls.

Inductor's steps after fusion know the nodes of its own graph that they compute (`origins`), and these the node of the graph that Dynamo
handed over (`from_node`), whose names are made those of the calls here.
"""
import contextlib
import re

from torch._functorch import config as functorch_config
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx

from joulecast_torch_compile.modules import calls_in

CALL = re.compile(r"call(\d+)")


class Backend:
    """Inductor for torch.compile, which keeps the kernels that it makes. `module` is what is compiled, `numbers` those of its calls;
    `kernels` is None where Dynamo handed over other calls than the module's."""

    def __init__(self, module, numbers):
        self.targets, self.numbers = [node.target for node in calls_in(module.graph)], numbers
        self.kernels = None

    def __call__(self, graph, inputs):
        handed_over = calls_in(graph.graph)
        if [node.target for node in handed_over] != self.targets:
            return compile_fx(graph, inputs)
        for node, number in zip(handed_over, self.numbers, strict=True):
            node._rename(f"call{number}")
        with self.kept():
            return compile_fx(graph, inputs)

    @contextlib.contextmanager
    def kept(self):
        """Compiling shows its steps; what comes from a cache has none."""
        with config.patch(_post_fusion_custom_pass=self.keep, fx_graph_cache=False), functorch_config.patch(enable_autograd_cache=False):
            yield

    def keep(self, steps):
        self.kernels = (self.kernels or []) + kernels(steps)
        return steps


def call_of(node):
    """The number of the call that a node of Inductor's graph was made for; None for what passes added."""
    waiting = list(node.meta.get("from_node", ()))
    while waiting:
        source = waiting.pop()
        if found := CALL.fullmatch(source.name):
            return int(found.group(1))
        waiting += source.from_node
    return None


def kernels(steps):
    """`kernels` of the protocol, in the order in which they run. A node that is computed within several of them counts for the first."""
    stored = {part.node.get_origin_node() for step in steps for part in parts(step)} - {None}
    found, counted = [], set()
    for step in steps:
        own = [node for part in parts(step) for node in computed_in(part.node, stored)]
        if own:
            calls = {call_of(node) for node in own if node not in counted} - {None}
            found.append({"kernel": name_of(step), "operations": sorted(calls)})
            counted.update(own)
        elif parts(step):
            # Changes of layout and pieces of concatenations store no value of their own. Each is part of the call that it is made for, first of
            # its origins; that one kernel makes them for several calls does not make these one.
            calls = {call for part in parts(step) for call in calls_of(part.node.get_origins())[:1]}
            found += [{"kernel": name_of(step), "operations": [call]} for call in sorted(calls)]
    return found


def calls_of(nodes):
    return [call for call in map(call_of, nodes) if call is not None]


def parts(step):
    """What a step runs; nothing where it only gives memory a name."""
    return [part for part in step.get_nodes() if part.node is not None and not part.node.is_no_op()]


def computed_in(buffer, stored):
    """Nodes of the graph that a buffer computes, itself and what is computed within it: up to values that other buffers hold. Nothing for a
    change of layout, which stores no node of its own."""
    own, origins = buffer.get_origin_node(), set(buffer.get_origins())
    found, waiting = [], [own] if own is not None else []
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.append(node)
            waiting += [read for read in node.all_input_nodes if read in origins and read not in stored]
    return found


def name_of(step):
    """A function of a library, or generated code."""
    return getattr(parts(step)[0].node, "python_kernel_name", None) or "cpp"


def without_views(found, views):
    """Calls that are views (numbers) run in no kernel, but where a kernel does nothing else: then it copies."""
    return [kernel | {"operations": [call for call in kernel["operations"] if call not in views] or kernel["operations"]} for kernel in found]
