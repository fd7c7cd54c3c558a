"""What ONNX Runtime made of a model: which nodes of its optimised graph do which calls of the original one.

Values keep their names where a node is left alone or fused into the one after it, and layout changes add nodes of their own. So a node does
the calls that lie between its results and the nearest values that other nodes make.
"""
import collections
import dataclasses
import re

from joulecast_measuring.serve import told_kernels

NCHWC = "_nchwc"
OTHER_LAYOUT = re.compile("_token_[0-9]+$")
# Change the layout or shape of a value and compute nothing; ONNX Runtime adds such nodes.
GLUE = {"Reshape", "ReorderInput", "ReorderOutput", "Transpose", "Cast", "Squeeze", "Unsqueeze", "Identity"}


@dataclasses.dataclass
class Kernel:
    kind: str
    operations: list  # numbers of calls, ascending; empty: it could not be told


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


def told(found):
    """These kernels as fields of an answer."""
    return told_kernels([{"kernel": kernel.kind, "operations": kernel.operations} for kernel in found],
                        glue=lambda kind: kind.rpartition(".")[2] in GLUE)
