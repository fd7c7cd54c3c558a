#!/usr/bin/env python3
"""Writes tests/graph/oracles_bytes/<network>.json: the bytes that each call of the zoo's networks touches, and those that autograd keeps.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_byte_oracles.py             # all
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_byte_oracles.py gpt2
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_byte_oracles.py --list resnet18   # which call keeps what
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_byte_oracles.py --real resnet18@32 # fake tensors against a real CPU run

The exported program runs call by call on fake CUDA tensors, so that torch takes the branches it takes on a GPU, computes every stride and
alias, and allocates nothing. `settings` are two sizes; for each of them

- bytes: of every call with tensor outputs, in order, what it reads and writes. A call is one kernel, however many torch runs for it:
  every tensor it is given is read once, elements that are the same memory (expanded dimensions, a tensor passed twice) once, gaps not;
  every output that shares no storage with an input is written, as is every argument that the schema marks as changed. A call all of whose
  outputs are views, or its input itself, costs nothing. The exceptions stand in `read_bytes` and `written_bytes` below.
- saved: under torch.autograd.graph.saved_tensors_hooks, the bytes of all storages that the graph holds when the forward pass has ended,
  each once, without parameters, buffers and inputs. On a GPU, and on a CPU, whose dropout keeps factors in place of a mask.
"""
import json
import operator
import sys
import weakref

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

import make_oracles
import make_zoo
import zoo_networks

aten = torch.ops.aten

# Of these arguments only type and shape matter.
SHAPE_ONLY = {
    aten.zeros_like.default: {"self"}, aten.ones_like.default: {"self"}, aten.full_like.default: {"self"}, aten.empty_like.default: {"self"},
    aten.rand_like.default: {"self"}, aten.randn_like.default: {"self"}, aten.new_zeros.default: {"self"}, aten.new_ones.default: {"self"},
    aten.new_full.default: {"self"}, aten.new_empty.default: {"self"}, aten.type_as.default: {"other"}, aten.to.other: {"other"},
    aten.copy_.default: {"self"}, aten.fill_.Scalar: {"self"}, aten.fill_.Tensor: {"self"}, aten.zero_.default: {"self"},
    aten.bernoulli_.float: {"self"}, aten.uniform_.default: {"self"}, aten.normal_.default: {"self"}}
# Memory that is taken but not written.
UNWRITTEN = {aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default}
# Reads of the first tensor only what it hands on.
LOOKUPS = {aten.embedding.default, aten.gather.default, aten.index_select.default, aten.index.Tensor}
DROPOUTS = {aten.dropout.default, aten.dropout_.default}
ATTENTION = aten.scaled_dot_product_attention.default


def storage(tensor):
    return tensor.untyped_storage()._cdata


def distinct_bytes(tensor):
    """Elements that are different memory; windows that overlap cover at most their span."""
    count, span = 1, 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        if size == 0:
            return 0
        if stride != 0:
            count, span = count * size, span + (size - 1) * stride
    return min(count, span) * tensor.element_size()


def tensors_of(value):
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def named_arguments(target, arguments, keywords):
    named = dict(zip((argument.name for argument in target._schema.arguments), arguments))
    return named | keywords


def argument(target, named, name):
    return named.get(name, next(entry.default_value for entry in target._schema.arguments if entry.name == name))


def is_training_norm(target, named):
    """Its statistics cover the batch, so the input is read again to be normalised: no kernel can keep it all at hand."""
    return (target is aten.batch_norm.default and named["training"]) or (target is aten.instance_norm.default and named["use_input_stats"])


def drops(target, named):
    return target in DROPOUTS and named["train"] and named["p"] > 0


def read_bytes(target, named, outputs):
    skipped = SHAPE_ONLY.get(target, set())
    seen = {}
    for name, value in named.items():
        if name in skipped:
            continue
        for tensor in tensors_of(value):
            seen[storage(tensor), tensor.storage_offset(), tuple(tensor.shape), tensor.stride()] = distinct_bytes(tensor)
    total = sum(seen.values())
    if target in LOOKUPS:
        total += sum(map(distinct_bytes, outputs)) - distinct_bytes(tensors_of(next(iter(named.values())))[0])
    if is_training_norm(target, named):
        total += distinct_bytes(named["input"])
    return total


def written_bytes(target, named, outputs):
    inputs = {storage(tensor) for value in named.values() for tensor in tensors_of(value)}
    changed = [entry.name for entry in target._schema.arguments if entry.alias_info is not None and entry.alias_info.is_write]
    if is_training_norm(target, named):
        changed += ["running_mean", "running_var"]
    total = sum(distinct_bytes(tensor) for name in changed for tensor in tensors_of(named.get(name)))
    if target not in UNWRITTEN:
        total += sum(distinct_bytes(tensor) for tensor in outputs if storage(tensor) not in inputs)
    if drops(target, named):
        # What is kept: a mask of bytes, and in place (where no GPU kernel is fused either) factors.
        total += named["input"].numel() if target is aten.dropout.default else distinct_bytes(named["self"])
    return total


def touched(target, arguments, keywords, result):
    named = named_arguments(target, arguments, keywords)
    outputs = tensors_of(result)
    if target in DROPOUTS and not drops(target, named):
        return 0, 0
    written = written_bytes(target, named, outputs)
    given = [tensor for value in named.values() for tensor in tensors_of(value)]
    aliases = {storage(tensor) for tensor in given}
    is_view = bool(outputs) and written == 0 and target not in UNWRITTEN and all(storage(tensor) in aliases for tensor in outputs)
    return (0, 0) if is_view else (read_bytes(target, named, outputs), written)


class Attention(torch.autograd.Function):
    """What fused kernels keep: their operands, a mask of booleans as numbers, the output, and the logarithm of each row's sum."""

    @staticmethod
    def forward(context, query, key, value, mask, output):
        result = torch.empty_strided(output.shape, output.stride(), dtype=query.dtype, device=query.device)
        rows = query.new_empty(query.shape[:-1], dtype=torch.float32)
        context.save_for_backward(query, key, value, mask, result, rows)
        return result


def fused_attention(output, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """A call whose result lies as `output` does. The kernels take a mask of booleans as one of numbers."""
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.where(attn_mask, 0.0, torch.full((), -torch.inf, dtype=query.dtype, device=query.device))
    return Attention.apply(query, key, value, attn_mask, output)


class Kept:
    """What the graph holds of a saved tensor: it dies with the graph's node."""

    def __init__(self, tensor, call):
        self.tensor, self.call = tensor, call


class Runner(torch.fx.Interpreter):
    """Runs a graph, and those that its higher-order nodes run, on one device."""

    def __init__(self, module, device, calls, call, real=False):
        super().__init__(module)
        self.device, self.calls, self.call, self.real = device, calls, call, real

    def run_node(self, node):
        self.node = node
        return super().run_node(node)

    def layout(self, operands):
        """Of attention's result: torch.export writes down that of the form in matrix products, contiguous."""
        shape = (*operands[0].shape[:-1], operands[2].shape[-1])
        order = sorted(range(len(shape)), key=lambda place: -self.node.meta["val"].stride()[place])
        return torch.empty([shape[place] for place in order], device="meta").permute([order.index(place) for place in range(len(shape))])

    def call_function(self, target, arguments, keywords):
        if isinstance(target, torch._ops.HigherOrderOperator):
            if str(target) not in ("wrap_with_set_grad_enabled", "wrap_with_autocast"):
                raise RuntimeError(f"no rule for {target}")
            at = next(place for place, argument in enumerate(arguments) if isinstance(argument, torch.fx.GraphModule))
            with torch.set_grad_enabled(arguments[0] if str(target) == "wrap_with_set_grad_enabled" else torch.is_grad_enabled()):
                return Runner(arguments[at], self.device, self.calls, self.call, self.real).run(*arguments[at + 1:])
        arguments, keywords = tree_map(lambda leaf: torch.device(self.device) if isinstance(leaf, torch.device) else leaf,
                                       (arguments, keywords))
        if isinstance(target, torch._ops.OpOverload) and any(entry.name == "device" for entry in target._schema.arguments) \
                and not tensors_of(arguments):
            keywords = {**keywords, "device": torch.device(self.device)}
        self.call[0] = str(target)
        result = fused_attention(self.layout(arguments), *arguments, **keywords) if target is ATTENTION and not self.real \
            else super().call_function(target, arguments, keywords)
        if tensors_of(result) and target is not operator.getitem:
            self.calls.append(touched(target, arguments, keywords, result))
        return result


def placeholders(name, program, setting, device):
    sizes = {symbol: setting[size] for size, symbol in make_zoo.symbols(name, program).items()}
    parameters = program.graph_signature.inputs_to_parameters
    for node in program.graph.nodes:
        if node.op == "placeholder":
            value = node.meta["val"]
            shape = [size if isinstance(size, int) else sizes[str(size)] for size in value.shape]
            yield torch.zeros(shape, dtype=value.dtype, device=device).requires_grad_(node.name in parameters and value.is_floating_point())


def bytes_of_calls(name, program, setting):
    calls = []
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        Runner(program.graph_module, "cuda:0", calls, [""]).run(*placeholders(name, program, setting, "cuda:0"))
    return calls


def kept_storages(program, inputs, device, real=False):
    """(bytes, call that kept it first) of each storage that the autograd graph holds after the forward pass."""
    kept, call = weakref.WeakSet(), [""]

    def keep(tensor):
        item = Kept(tensor, call[0])
        kept.add(item)
        return item
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda item: item.tensor):
        outputs = Runner(program.graph_module, device, [], call, real).run(*inputs)
    given = {storage(tensor) for tensor in inputs}
    storages = {}
    for item in kept:
        tensor = item.tensor
        if storage(tensor) not in given:
            storages.setdefault(storage(tensor), (tensor.untyped_storage().nbytes(), item.call, tuple(tensor.shape)))
    del outputs
    return list(storages.values())


def saved_bytes(name, program, setting, device):
    with FakeTensorMode(allow_non_fake_inputs=True):
        return kept_storages(program, list(placeholders(name, program, setting, device)), device)


def total(storages):
    return sum(entry[0] for entry in storages)


def write_oracle(name):
    lines, forms = {}, {}
    for form in make_zoo.FORMS:
        program = make_zoo.export(name, form)
        settings = [make_oracles.settings(name, form)[at] for at in (0, 2)]
        calls = zip(*(bytes_of_calls(name, program, setting) for setting in settings), strict=True)
        nodes = [lines.setdefault(" ".join(str(count) for pair in call for count in pair), len(lines)) for call in calls]
        forms[form] = {"settings": settings, "nodes": nodes}
        if form == "train":
            for device in ("cuda:0", "cpu"):
                forms[form]["saved_" + device.split(":")[0]] = [total(saved_bytes(name, program, setting, device)) for setting in settings]
    document = {"network": name, "torch": torch.__version__, "forms": forms, "lines": list(lines)}
    path = make_zoo.REPOSITORY / "tests/graph/oracles_bytes" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, separators=(",", ":")).replace('"forms"', '\n"forms"').replace('"train":', '\n"train":')
                    .replace('"lines":[', '\n"lines":[\n').replace('","', '",\n"') + "\n")
    assert json.loads(path.read_text()) == document
    print(f"{path.relative_to(make_zoo.REPOSITORY)}: {path.stat().st_size} bytes; {forms['train']['saved_cuda']}", flush=True)


def list_saved(name):
    program = make_zoo.export(name, "train")
    counts = {}
    for size, call, shape in saved_bytes(name, program, make_oracles.settings(name, "train")[0], "cuda:0"):
        counts[call, shape, size] = counts.get((call, shape, size), 0) + 1
    for (call, shape, size), count in sorted(counts.items(), key=lambda item: -item[0][2] * item[1]):
        print(f"{size * count:>12} = {count} x {size} {call} {shape}")


def compare_real(name):
    program = make_zoo.export(name, "train")
    setting = make_oracles.settings(name, "train")[0]
    real = total(kept_storages(program, list(placeholders(name, program, setting, "cpu")), "cpu", real=True))
    fake = total(saved_bytes(name, program, setting, "cpu"))
    print(f"{name}: real {real}, fake {fake}, {real / fake - 1:+.3%}", flush=True)


if __name__ == "__main__":
    tasks = {"--list": list_saved, "--real": compare_real}
    chosen = tasks.get(sys.argv[1], write_oracle) if sys.argv[1:] else write_oracle
    for network_name in [argument for argument in sys.argv[1:] if argument not in tasks] or make_zoo.NETWORKS:
        chosen(network_name)
