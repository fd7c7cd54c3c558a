"""What ONNX Runtime made of a model: which nodes of its optimised graph do which calls of the original one.

Values keep their names where a node is left alone or fused into the one after it, and layout changes add nodes of their own. So a node does
the calls that lie between its results and the nearest values that other nodes make.
"""
import collections
import dataclasses
import re

from joulecast_onnxruntime.sessions import RENAMES

NCHWC = "_nchwc"
OTHER_LAYOUT = re.compile("_token_[0-9]+$")
# Change the layout or shape of a value and compute nothing; ONNX Runtime adds such nodes.
GLUE = {"Reshape", "ReorderInput", "ReorderOutput", "Transpose", "Cast", "Squeeze", "Unsqueeze", "Identity"}


@dataclasses.dataclass
class Kernel:
    kind: str
    operations: list  # numbers of calls, ascending; empty: it could not be told


class Original:
    """The model as it was written. What is computed without any of the `inputs` is computed when the model is loaded."""

    def __init__(self, nodes, call_of_node, inputs):
        self.nodes, self.call_of_node = nodes, call_of_node
        varying, self.runs = set(inputs), []
        for node in nodes:
            self.runs.append(not varying.isdisjoint(node.input))
            varying.update(node.output if self.runs[-1] else ())
        self.maker = {name: number for number, node in enumerate(nodes) for name in node.output}
        self.by_name = {node.name: number for number, node in enumerate(nodes)}
        self.readers = collections.defaultdict(list)
        for number, node in enumerate(nodes):
            for name in node.input:
                self.readers[name].append(number)

    def between(self, results, known):
        """Numbers of the nodes that lead from the known values to the results, without those that were computed before the run."""
        found, left = set(), [self.maker[name] for name in results]
        while left:
            number = left.pop()
            if number in found:
                continue
            found.add(number)
            makers = [self.maker[name] for name in self.nodes[number].input if name in self.maker and name not in known]
            left += [maker for maker in makers if self.runs[maker]]
        return found

    def named(self, name):
        """The node that a fused node is called after, such as `3/MatMul.7/MatMulAddFusion`: the longest beginning that is one."""
        for end in range(len(name), 0, -1):
            if (end == len(name) or name[end] in "/_") and name[:end] in self.by_name:
                return self.by_name[name[:end]]
        return None

    def after(self, value, kind):
        """The result of the one node that reads the value, if it is of that kind; else the value itself."""
        readers = self.readers[value]
        return self.nodes[readers[0]].output[0] if len(readers) == 1 and self.nodes[readers[0]].op_type == kind else value

    def computes(self, numbers):
        return [number for number in numbers if self.nodes[number].op_type not in RENAMES]


def value_of_blocked(node):
    """A batch norm that is left alone becomes a convolution, `5/BatchNormalization.5_bn_nchwc`."""
    return node.name.removesuffix(NCHWC).removesuffix("_bn")


def blocked_result(node, original):
    """The value that a node in blocked layout makes. It is called after the value that it made first; what was fused into it later shows in
    its fourth input, a tensor that is added, and in its activation."""
    value = value_of_blocked(node)
    if len(node.input) > 3 and node.input[3]:
        value = original.after(value, "Add")
    activation = next((item.s.decode() for item in node.attribute if item.name == "activation"), None)
    return original.after(value, activation) if activation else value


def results_of(node, original):
    """The values of the original model that a node of the optimised one makes: under their own names, or as `7/Mul.9_token_210` in another
    layout, or else it is called as it was."""
    found = [name for name in (OTHER_LAYOUT.sub("", name) for name in node.output) if name in original.maker]
    if not found and node.name.endswith(NCHWC) and value_of_blocked(node) in original.maker:
        found = [blocked_result(node, original)]
    number = original.by_name.get(node.name)
    if not found and number is not None and original.nodes[number].op_type == node.op_type:
        found = list(original.nodes[number].output)
    return found


def kernels(original, optimised):
    """One Kernel for each node of the optimised graph, in its order."""
    nodes = list(optimised.node)
    readers = collections.defaultdict(list)
    for number, node in enumerate(nodes):
        for name in node.input:
            readers[name].append(number)
    results = [results_of(node, original) for node in nodes]
    # A node before one that only changes the shape of its result makes that result.
    for number in range(len(nodes) - 1, -1, -1):
        if not results[number]:
            after = [reader for name in nodes[number].output for reader in readers[name]]
            if nodes[number].op_type not in GLUE and after and all(nodes[reader].op_type in GLUE for reader in after):
                results[number] = results[after[0]]
    known = {name for found in results for name in found}
    # What several nodes were fused into is called after one of them, `2/Mul.4/QuickGeluFusion/`.
    for number, node in enumerate(nodes):
        if not results[number] and (named := original.named(node.name)) is not None:
            results[number] = [name for name in original.nodes[named].output if name not in known]
            known.update(results[number])
    calls = []
    for node, found in zip(nodes, results):
        between = original.between(found, known - set(found)) if found else set()
        if not between and (number := original.named(node.name)) is not None:
            between = {number}
        # A view between two kernels is part of neither, where a kernel does more than that.
        between = original.computes(between) or between
        calls.append({original.call_of_node[number] for number in between})
    maker = {name: number for number, node in enumerate(nodes) for name in node.output}
    # What is left changes layouts: before the node that reads it, or else after the one that made it.
    for number in range(len(nodes) - 1, -1, -1):
        if not calls[number]:
            after = [reader for name in nodes[number].output for reader in readers[name] if calls[reader]]
            before = [maker[name] for name in nodes[number].input if name in maker and calls[maker[name]]]
            if after or before:
                calls[number] = set(calls[(after or before)[0]])
    return [Kernel((f"{node.domain}." if node.domain else "") + node.op_type, sorted(found)) for node, found in zip(nodes, calls)]


def fused_share(found):
    """Of the calls that run and compute, how many run in one kernel with another call."""
    found = [kernel for kernel in found if kernel.kind.rpartition(".")[2] not in GLUE]
    run = {call for kernel in found for call in kernel.operations}
    fused = {call for kernel in found if len(kernel.operations) > 1 for call in kernel.operations}
    return len(fused) / len(run) if run else 0.0
