"""Norms of timm in the type of autocast.

timm has norms that leave autocast's float32 (`timm.layers.set_fast_norm`), and its tables were measured with them: in float32
ConvNeXt-T at 384 pixels would have to multiply and move all it has at 96 % of an RTX 4090's sheet, each byte once. A file that
torch.export writes does not tell, so that autocast as joulecast knows it would make them float32.
"""

import re

NORMS = ("aten::layer_norm(", "aten::group_norm(", "aten::rms_norm(")
# Calls that autocast makes float32, where a norm's result may go.
IN_FLOAT32 = ("aten::softmax", "aten::pow", "aten::linalg_vector_norm", "aten::norm", "aten::sum", "aten::prod", "aten::exp",
              "aten::cumsum", "aten::rsqrt") + NORMS
FLOATING = re.compile(r"\b(f32|f16)(?=\[)")
CAST = "aten::_to_copy("


def as_type(tensor, dtype):
    return FLOATING.sub(dtype, tensor, count=1)


def is_of(tensor, dtype):
    return tensor.startswith(dtype + "[")


def without_idle_casts(graph):
    """Casts whose result nobody takes any more are not made."""
    nodes = graph["nodes"]
    taken, kept = set(graph["outputs"]), []
    for i, node in reversed(list(enumerate(nodes))):
        if node["operation"].startswith(CAST) and f"{i}.0" not in taken:
            continue
        kept.append(i)
        taken.update(node["inputs"])
    kept.reverse()
    place = {f"{i}.{k}": f"{now}.{k}" for now, i in enumerate(kept) for k in range(len(nodes[i]["outputs"]))}
    moved = lambda refs: [place.get(ref, ref) for ref in refs]
    return {**graph, "nodes": [{**nodes[i], "inputs": moved(nodes[i]["inputs"])} for i in kept], "outputs": moved(graph["outputs"])}


class FastNorms:
    """Writes a graph of `joulecast extract --precision amp-fp16 --graph` anew: `changed` norms of timm are in float16."""

    def __init__(self, graph):
        self.graph, self.nodes, self.changed = graph, [], 0
        self.types = {f"input.{i}": given["type"] for i, given in enumerate(graph["inputs"])}
        self.place = {}  # of a value before: where it is now
        self.uncast = {}  # by cast: what it casts

    def run(self):
        for i, node in enumerate(self.graph["nodes"]):
            for k, ref in enumerate(self.written(node)):
                self.place[f"{i}.{k}"] = ref
        outputs = [self.place.get(ref, ref) for ref in self.graph["outputs"]]
        return without_idle_casts({**self.graph, "nodes": self.nodes, "outputs": outputs})

    def add(self, node):
        refs = [f"{len(self.nodes)}.{k}" for k in range(len(node["outputs"]))]
        self.nodes.append(node)
        self.types.update(zip(refs, node["outputs"]))
        if node["operation"].startswith(CAST):
            self.uncast[refs[0]] = node["inputs"][0]
        return refs

    def cast(self, ref, dtype, node):
        if is_of(self.types[ref], dtype):
            return ref
        before = self.uncast.get(ref)
        if before is not None and is_of(self.types[before], dtype):
            return before
        operation = f"{CAST}self={self.types[ref]}, dtype={dtype})"
        return self.add({**node, "operation": operation, "inputs": [ref], "outputs": [as_type(self.types[ref], dtype)]})[0]

    def written(self, node):
        """Where what the call makes is now."""
        operation, refs = node["operation"], [self.place.get(ref, ref) for ref in node["inputs"]]
        if operation.startswith(CAST):
            wanted = re.search(r"dtype=(\w+)", operation)
            if wanted and is_of(self.types[refs[0]], wanted[1]):
                return [refs[0]]
        is_fast = operation.startswith(NORMS) and "/timm/layers/" in node.get("source", "")
        if is_fast:
            self.changed += 1
            refs = [self.cast(ref, "f16", node) for ref in refs]
        elif operation.startswith(IN_FLOAT32):
            before = iter(FLOATING.findall(operation))
            refs = [self.cast(ref, next(before), node) if FLOATING.match(self.types[ref]) else ref for ref in refs]
        return self.add({**node, "inputs": refs, **self.in_types_of(refs, node)})

    def in_types_of(self, refs, node):
        """The call and its results in the types that arrive now: float16 where nothing else does."""
        now = [found[1] for found in (FLOATING.match(self.types[ref]) for ref in refs) if found]
        arriving = iter(now)
        operation = FLOATING.sub(lambda before: next(arriving, before[1]), node["operation"])
        outputs = node["outputs"]
        if operation != node["operation"] and not operation.startswith(CAST) and set(now) == {"f16"}:
            outputs = [as_type(tensor, "f16") for tensor in outputs]
        return {"operation": operation, "outputs": outputs}


def with_fast_norms(graph):
    return FastNorms(graph).run()
