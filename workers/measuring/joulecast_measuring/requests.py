"""Requests of docs/worker-protocol.md, read with every fault named by its field."""
import dataclasses
import json

from joulecast_measuring.signature import FormatError, Operation, TensorType, parse_operation, parse_type

PROTOCOL = 1
LONGEST_LINE = 64 << 20
MOST_RUNS, MOST_CALLS = 10_000, 10**9
SCHEMA = "joulecast.graph/1"


class Refused(Exception):
    """A request that cannot be carried out at all: answered with a `failure`."""


class Unsupported(Exception):
    """An operation or network that the engine cannot run: an outcome."""


class OutOfMemory(Exception):
    """More memory than there is: an outcome."""


def number(low, high):
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high, \
        f"is no number between {low:g} and {high:g}"


def integer(low, high):
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, \
        f"is no integer between {low} and {high}"


def word(*words):
    return lambda value: isinstance(value, str) and value in words, "is none of " + ", ".join(words)


FLAG = lambda value: isinstance(value, bool), "is neither true nor false"
TEXT = lambda value: isinstance(value, str), "is no text"
QUANTITY = lambda value: value is None or number(0, 1e18)[0](value), "is no number"

# field: default, what it must be
SETTINGS = {
    "method": ("joulecast", word("joulecast", "thesis", "sponner")), "warm_up_s": (0.05, number(0, 3600)),
    "time_budget_s": (0.25, number(0, 3600)), "min_block_s": (1e-3, number(0, 60)), "relative_half_width": (0.005, number(0, 1)),
    "working_set_bytes": (0.0, number(0, 1e15)), "measure_hot": (True, FLAG), "measure_memory": (True, FLAG),
    "measure_energy": (True, FLAG), "energy_window_s": (0.6, number(0, 3600)), "longest_soak_s": (60.0, number(0, 3600)),
    "meter": ("auto", TEXT), "keep_blocks": (True, FLAG), "threads": (0, integer(0, 65536)), "seed": (1, integer(0, 2**63 - 1)),
}
POINT = {
    "device": (None, TEXT), "sm_clock_mhz": (None, QUANTITY), "memory_clock_mhz": (None, QUANTITY), "power_limit_w": (None, QUANTITY),
    "math": ("ieee", word("ieee", "tf32")), "engine": ("torch", TEXT), "host": ("cpp", word("python", "cpp", "graph")),
    "host_cpu": ("", TEXT), "threads": (0, integer(0, 65536)),
}


def fields(request, name, described):
    given = request.get(name, {})
    if not isinstance(given, dict):
        raise FormatError(f"field {name} is no JSON object")
    values = {}
    for field, (default, (holds, otherwise)) in described.items():
        values[field] = given.get(field, default)
        if (field in given or default is None and field == "device") and not holds(values[field]):
            raise FormatError(f"field {name}.{field} {otherwise}")
    return values


@dataclasses.dataclass
class Input:
    name: str
    kind: str
    type: TensorType


@dataclasses.dataclass
class Node:
    operation: Operation
    inputs: list  # (node, output); node -1 is the graph's input of that number
    outputs: list  # types


@dataclasses.dataclass
class Graph:
    name: str
    mode: str
    symbols: dict
    inputs: list
    nodes: list
    outputs: list

    def type_of(self, reference):
        node, output = reference
        return self.inputs[output].type if node < 0 else self.nodes[node].outputs[output]


def _reference(text, inputs, made):
    node, _, output = text.partition(".") if isinstance(text, str) else ("", "", "")
    if not output.isdigit() or not (node == "input" or node.isdigit()):
        raise FormatError(f"field graph: {text!r} is no reference")
    known = inputs if node == "input" else made[int(node)] if int(node) < len(made) else 0
    if int(output) >= known:
        raise FormatError(f"field graph: {text!r} refers to nothing before it")
    return (-1 if node == "input" else int(node), int(output))


def graph_of(given):
    """The graph of docs/graph-json.md with edges and with numbers for all sizes."""
    if not isinstance(given, dict) or given.get("schema") != SCHEMA:
        raise FormatError(f"field graph is no {SCHEMA}")
    if given.get("has_edges") is not True:
        raise FormatError("field graph has no edges: a bag of operations cannot be run as a network")
    try:
        inputs = [Input(str(item.get("name", "")), item["kind"], parse_type(item["type"])) for item in given["inputs"]]
        nodes, made = [], []
        for item in given["nodes"]:
            operation = parse_operation(item["operation"])
            references = [_reference(text, len(inputs), made) for text in item["inputs"]]
            if len(references) != len(operation.tensors()):
                raise FormatError(f"field graph: node {len(nodes)} ({operation.target}) has {len(operation.tensors())} tensors but "
                                  f"{len(references)} edges")
            nodes.append(Node(operation, references, [parse_type(text) for text in item.get("outputs", [])]))
            made.append(len(nodes[-1].outputs))
        outputs = [_reference(text, len(inputs), made) for text in given.get("outputs", [])]
        symbols = {name: value["value"] if isinstance(value, dict) else value for name, value in given.get("symbols", {}).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"field graph is not as docs/graph-json.md says: {type(error).__name__} {error}") from None
    training = any(type_.requires_grad for item in nodes for _, type_ in item.operation.tensors())
    return Graph(str(given.get("name", "")), given.get("mode") or ("training" if training else "inference"), symbols, inputs, nodes, outputs)


def parsed(line):
    """The JSON object of a line; raises FormatError."""
    if len(line) > LONGEST_LINE:
        raise FormatError(f"line longer than {LONGEST_LINE} bytes")
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"line cannot be read: {error}") from None
    if not isinstance(request, dict):
        raise FormatError("line is no JSON object")
    return request


def check_version(request):
    spoken = request.get("protocol")
    if spoken is None:
        raise FormatError("field protocol is missing")
    if spoken != PROTOCOL or isinstance(spoken, bool):
        raise FormatError(f"field protocol is {spoken}, this program speaks {PROTOCOL}: install joulecast and the worker from the same "
                          "release")


def calls_of(request):
    calls = request.get("calls")
    if not isinstance(calls, list) or len(calls) > MOST_RUNS or not all(integer(1, MOST_CALLS)[0](number) for number in calls):
        raise FormatError(f"field calls is no list of at most {MOST_RUNS} integers between 1 and {MOST_CALLS}")
    return calls
