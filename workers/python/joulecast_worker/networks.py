"""Whole networks as Python runs them: the real nn.Module where the graph is of one that is known by name, else node by node."""
import keyword
import types

import torch

from joulecast_worker.calls import Slot, fill, flat, written

OPTIMIZERS = {
    "sgd": lambda parameters, rate: torch.optim.SGD(parameters, lr=rate),
    "momentum": lambda parameters, rate: torch.optim.SGD(parameters, lr=rate, momentum=0.9),
    "adam": lambda parameters, rate: torch.optim.Adam(parameters, lr=rate),
    "adamw": lambda parameters, rate: torch.optim.AdamW(parameters, lr=rate),
}
HALVES = (torch.bfloat16, torch.float16)


class Unnamed(Exception):
    """Why there is no nn.Module for a graph."""


class Inference:
    """Forward without gradients, under inference_mode."""
    rotation = 1

    def __init__(self, forward):
        self.forward = forward

    def run(self, calls, hot):
        forward = self.forward
        with torch.inference_mode():
            for _ in range(calls):
                forward()

    def prepare(self, calls, hot):
        pass

    def longest_run(self, hot):
        return None


class Training(Inference):
    """Step: zero_grad(set_to_none), forward, the sum of all floating outputs as loss, backward, the optimizer's step. Or forward alone."""

    def __init__(self, forward, parameters, optimizer=None, backward=True):
        super().__init__(forward)
        self.parameters = parameters
        self.optimizer = optimizer
        self.backward = backward

    def clear_gradients(self):
        for parameter in self.parameters:
            parameter.grad = None

    def run(self, calls, hot):
        with torch.enable_grad():
            for _ in range(calls):
                self.step()

    def step(self):
        if self.optimizer is None:
            self.clear_gradients()
        else:
            self.optimizer.zero_grad()
        outputs = self.forward()
        if not self.backward:
            return
        loss = None
        for output in flat(outputs):
            if output.requires_grad:
                loss = output.sum() if loss is None else loss + output.sum()
        if loss is None:
            return
        loss.backward()
        if self.optimizer is not None:
            self.optimizer.step()


class Network:
    """The workloads of a trial: `whole`, and in training `forward`."""

    def __init__(self, request, forward, parameters, resident, remark):
        self.resident_bytes = float(sum(tensor.nbytes for tensor in resident))
        self.remark = remark
        self.forward = None
        self.parameters = parameters
        self.optimizer = None
        if not request["training"]:
            self.whole = Inference(forward)
            return
        if request["optimizer"] != "none":
            self.optimizer = OPTIMIZERS[request["optimizer"]](parameters, request["learning_rate"])
        self.whole = Training(forward, parameters, self.optimizer)
        self.forward = Training(forward, parameters, backward=False)
        self.whole.run(1, False)  # the first step allocates the optimizer's state

    def clear_gradients(self):
        for parameter in self.parameters:
            parameter.grad = None

    def state_bytes(self):
        if self.optimizer is None:
            return 0.0
        tensors = (value for state in self.optimizer.state.values() for value in state.values() if isinstance(value, torch.Tensor))
        return float(sum(tensor.nbytes for tensor in tensors))


# --- by name ----------------------------------------------------------------------------------------------------------------------------

def known_networks():
    try:
        import zoo_networks
    except ImportError as error:
        raise Unnamed(f"the zoo's networks cannot be imported ({error})") from None
    return zoo_networks.NETWORKS


def shapes(pairs):
    return sorted((str(dtype), tuple(shape)) for dtype, shape in pairs)


def is_autocast(request):
    """Whether float32 weights meet casts to half precision: the module itself makes none."""
    if any(dtype in HALVES for _, dtype, _ in request["inputs"]):
        return False
    return any(value in HALVES for _, _, values, _, _ in request["steps"]() for value in values if isinstance(value, torch.dtype))


def named_module(request):
    """(module, arguments) of the network that the request's graph is called after, if it has the same weights and inputs."""
    name = request["name"]
    known = known_networks().get(name)
    if known is None:
        raise Unnamed(f"no nn.Module is known by the name {name!r}")
    wanted = [(index, dtype, shape) for index, (kind, dtype, shape) in enumerate(request["inputs"]) if kind == "user_input"]
    given, structure = torch.utils._pytree.tree_flatten(known.inputs)
    sizes = [tuple(request["symbols"].get(size, size) for size in tensor.shape) for tensor in given]
    if sizes != [shape for _, _, shape in wanted]:
        raise Unnamed(f"the inputs of the graph are not those of {name}")
    if is_autocast(request):
        raise Unnamed(f"the graph has casts that {name} has not")
    module = known.make()
    weights = [(dtype, shape) for kind, dtype, shape in request["inputs"] if kind == "parameter"]
    if {dtype for dtype, _ in weights} & set(HALVES):
        module.to(weights[0][0])
    module.train(request["training"])
    # Weights that are tied appear once in parameters(), and may appear twice in a graph.
    if set(shapes((p.dtype, p.shape) for p in module.parameters())) != set(shapes(weights)):
        raise Unnamed(f"the weights of the graph are not those of {name}")
    tensors = [request["make_input"](index) for index, _, _ in wanted]
    return module, torch.utils._pytree.tree_unflatten(tensors, structure), tensors


def named(request):
    module, arguments, tensors = named_module(request)
    parameters = list(module.parameters()) if request["training"] else []
    resident = [*module.parameters(), *module.buffers(), *tensors]
    if tensors and tensors[0].device.type != "cpu":
        module.to(tensors[0].device)
        resident = [*module.parameters(), *module.buffers(), *tensors]
        parameters = list(module.parameters()) if request["training"] else []
    return Network(request, lambda: module(*arguments), parameters, resident, "")


# --- node by node -----------------------------------------------------------------------------------------------------------------------

def variable(reference):
    node, output = reference
    return f"x{output}" if node < 0 else f"v{node}_{output}"


class Writer:
    """Writes a Python function that makes the graph's calls, one line each; every value is dropped after its last use."""

    def __init__(self, inputs):
        self.globals = {}
        self.values = dict(inputs)
        self.lines = []
        self.chosen = {}

    def constant(self, value):
        if value is None or isinstance(value, (bool, int, str)) and not isinstance(value, Slot):
            return repr(value)
        name = f"c{len(self.globals)}"
        self.globals[name] = value
        return name

    def text(self, value, names):
        if isinstance(value, Slot):
            return names[value]
        if isinstance(value, (list, tuple)):
            items = ", ".join(self.text(item, names) for item in value)
            return f"[{items}]"
        return self.constant(value)

    def add(self, step, used_later):
        node, target, arguments, references, results = step
        names = [variable(reference) for reference in references]
        tensors = [self.values[name] for name in names]
        function, positional, keywords = written(target, arguments, tensors)
        call = [self.text(value, names) for value in positional]
        call += [f"{name if not keyword.iskeyword(name) else name + '_'}={self.text(value, names)}" for name, value in keywords.items()]
        made = [variable((node, output)) for output in range(results)]
        line = f"{self.constant(function)}({', '.join(call)})"
        with torch.no_grad():
            result = function(*fill(positional, tensors), **fill(keywords, tensors))
        if isinstance(result, torch.Tensor):
            if made:
                line = f"{made[0]} = {line}"
                self.values[made[0]] = result
        elif made and isinstance(result, (list, tuple)):
            # Trailing results that the graph does not name (masks, reserved space) are dropped.
            line = f"{', '.join(made)}, = {line}" + (f"[:{len(made)}]" if len(result) > len(made) else "")
            self.values |= zip(made, result)
        self.lines.append(line)
        dead = [name for name in dict.fromkeys([*names, *made]) if name in self.values and name not in used_later and name[0] == "v"]
        for name in dead:
            del self.values[name]
        if dead:
            self.lines.append(f"del {', '.join(dead)}")

    def function(self, inputs, outputs):
        source = "\n    ".join([f"def forward({', '.join(inputs)}):", *self.lines, f"return [{', '.join(outputs)}]"])
        exec(compile(source, "<graph>", "exec"), self.globals)
        function = self.globals["forward"]
        return types.FunctionType(function.__code__, self.globals, "forward")


def later_uses(steps, outputs):
    """For each step the variables that are still needed after it."""
    needed = set(outputs)
    uses = []
    for _, _, _, references, _ in reversed(steps):
        uses.append(frozenset(needed))
        needed |= {variable(reference) for reference in references}
    return uses[::-1]


def node_by_node(request, reason):
    tensors = [request["make_input"](index) for index in range(len(request["inputs"]))]
    names = [f"x{index}" for index in range(len(tensors))]
    steps = request["steps"]()
    writer = Writer({name: tensor.detach() for name, tensor in zip(names, tensors)})
    outputs = [variable(reference) for reference in request["outputs"]]
    for step, used_later in zip(steps, later_uses(steps, outputs)):
        writer.add(step, used_later)
    forward = writer.function(names, [name for name in outputs if name in writer.values])
    writer.values.clear()
    parameters = [tensor for tensor in tensors if tensor.requires_grad]
    return Network(request, lambda: forward(*tensors), parameters, tensors, f"called node by node from Python: {reason}")


def network(request):
    try:
        return named(request)
    except Unnamed as reason:
        return node_by_node(request, reason)
