"""What OpenVINO made of a model: which steps of its compiled graph do which calls.

A step names the nodes of the original model that it was made of (`originalLayersNames`), but not all of them: passes that fold a weight or
replace a pattern give new nodes names of their own. So a step does the calls that lie between the value that it makes and the nearest
values that other steps make.
"""
import collections
import math

from joulecast_onnxruntime.original import RENAMES

# Change layouts or shapes and compute nothing; OpenVINO adds such steps.
GLUE = {"Reorder", "Reshape", "Transpose", "Convert"}
# Steps that do one of these nodes, whatever they are called after.
PRODUCTS = {"Convolution": {"Conv"}, "Deconvolution": {"ConvTranspose"}, "FullyConnected": {"Gemm", "MatMul"}, "MatMul": {"Gemm", "MatMul"}}
NO_STEPS = {"Const", "Input", "Output"}


class Step:
    """One step of a compiled graph that runs; `reads` are the steps whose results it reads, `own` the numbers of the model's nodes that it
    names, `result` the model's value that it makes."""

    def __init__(self, node):
        information = node.get_rt_info()
        told = lambda name: information[name].astype(str) if name in information else ""
        self.name, self.kind = node.get_friendly_name(), told("layerType")
        self.originals = [name for name in told("originalLayersNames").split(",") if name]
        self.makers = [output.get_node().get_friendly_name() for output in node.input_values()]
        self.bytes = sum(math.prod(output.get_shape()) * output.get_element_type().size for output in node.outputs())
        self.reads, self.own, self.result = [], set(), None


def steps_of(graph, left_out=NO_STEPS):
    """Those that run, in order: what reads constants alone is computed when a model is loaded."""
    running, steps = {}, []
    for node in graph.get_ordered_ops():
        step = Step(node)
        step.reads = [running[name] for name in step.makers if name in running]
        if step.kind == "Input" or step.reads:
            running[step.name] = step
            if step.kind not in left_out:
                steps.append(step)
    return steps


def peak_bytes(graph):
    """Most that results of steps take at once in a compiled graph, by their life times: OpenVINO shares memory between values that are not
    alive together, and does not tell how much it allocates."""
    steps = steps_of(graph, NO_STEPS - {"Output"})
    last_read = {owner(maker).name: number for number, step in enumerate(steps) for maker in step.reads}
    last_read |= {owner(maker).name: len(steps) for step in steps if step.kind == "Output" for maker in step.reads}
    alive, peak = {}, 0
    for number, step in enumerate(steps):
        if owner(step) is step and step.kind != "Output":
            alive[step.name] = step.bytes
        peak = max(peak, sum(alive.values()))
        alive = {name: size for name, size in alive.items() if last_read.get(name, -1) > number}
    return float(peak)


def owner(step):
    """The step whose memory holds the result: of another shape it is the same."""
    while step.kind == "Reshape" and step.reads:
        step = step.reads[0]
    return step


def value_before(original, name):
    """What a value is another shape of."""
    while name in original.maker and original.nodes[original.maker[name]].op_type in RENAMES:
        name = original.nodes[original.maker[name]].input[0]
    return name


def own_nodes(step, original, known):
    """Nodes of the calls that a step names; of a convolution that only names what was folded into it, itself as well."""
    own = set(step.own)
    kinds = PRODUCTS.get(step.kind, set())
    if kinds and not any(original.nodes[number].op_type in kinds for number in own):
        between = original.between([step.result], known - {step.result})
        own |= set(sorted(number for number in between if original.nodes[number].op_type in kinds)[-1:])
    calls = {original.call_of_node[number] for number in own}
    return [number for number, call in enumerate(original.call_of_node) if call in calls]


def producers(step):
    """The steps that make what a step reads, changes of layout and shape looked through."""
    found = []
    for maker in step.reads:
        while maker.kind in GLUE and maker.reads:
            maker = maker.reads[0]
        found.append(maker)
    return [maker for maker in found if maker.kind not in NO_STEPS]


def name_by_readers(steps, original):
    """What a step makes is what the step that reads it wants and nobody else makes: where it has no name of the model, or the name of what it
    made before an activation was fused into it. From the end on, so that it can be told of what that one reads in turn."""
    known = {step.result for step in steps}
    for step in reversed(steps):
        if step.result is None or not (read := producers(step)):
            continue
        own = own_nodes(step, original, known)
        wanted = {value_before(original, name) for number in own for name in original.nodes[number].input}
        wanted -= {name for number in own for name in original.nodes[number].output}
        wanted = [value for value in wanted if value in original.maker and original.runs[original.maker[value]] and value not in known]
        makers = [maker for maker in read if maker.result is None] or [maker for maker in read if leads_to(original, maker.result, wanted)]
        if len(wanted) == 1 and len(set(makers)) == 1:
            makers[0].result = wanted[0]
            known.add(wanted[0])


def leads_to(original, value, wanted):
    """The one wanted value is computed from this one and constants alone."""
    if len(wanted) != 1:
        return False
    between = original.between(wanted, {value})
    read = {name for number in between for name in original.nodes[number].input} - {value}
    makers = [original.maker[name] for name in read if name in original.maker]
    is_read = any(value in original.nodes[number].input for number in between)
    return is_read and not read & original.inputs and all(maker in between or not original.runs[maker] for maker in makers)


def kernels(original, graph):
    """`kernels` of the protocol for a compiled graph (Model) of an Original."""
    steps = steps_of(graph)
    for step in steps:
        step.own = {number for number in map(original.named, step.originals) if number is not None}
        step.result = original.nodes[max(step.own)].output[0] if step.own else None
    name_by_readers(steps, original)
    known = {step.result for step in steps} - {None}
    calls = {}
    for step in steps:
        between = original.between([step.result], known - {step.result}) if step.result else set()
        between |= step.own
        between = original.computes(between) or between
        calls[step.name] = {original.call_of_node[number] for number in between}
    attach(steps, calls)
    return [{"kernel": step.kind, "operations": sorted(calls[step.name])} for step in steps if step.kind != "Reshape"]  # takes no time


def attach(steps, calls):
    """What is left belongs to the step that reads it, or else to the one that it reads."""
    readers = collections.defaultdict(list)
    for step in steps:
        for maker in step.reads:
            readers[maker.name].append(step)
    for step in reversed(steps):
        if not calls[step.name]:
            beside = [other for other in [*readers[step.name], *step.reads] if calls.get(other.name)]
            calls[step.name] = set(calls[beside[0].name]) if beside else set()
