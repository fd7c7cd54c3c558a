#!/usr/bin/env python3
"""Writes tests/graph/oracles/<network>.json: what PyTorch itself says of the zoo's networks, for joulecast's graph to agree with.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_oracles.py            # all
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_oracles.py gpt2
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_oracles.py --zoo      # and the zoo's files, out of the same exports
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_oracles.py --table    # only the table in zoo/README.md, which every run renews

For the form that infers (eval) and the one that trains (train):
- settings: three sizes, the first that of the export.
- flops: [forward, forward + backward] at the first two settings, by torch.utils.flop_counter over the eager network on fake tensors. The
  counter knows matrix products, convolutions and attention; every other operation counts zero. Two FLOPs per multiply-add.
- nodes: for every call with tensor outputs, in order, its line in `lines`: its target, and dtype and shape of each output. The exported
  program ran on fake tensors of each setting, so nothing was computed from a symbol; "2|1|5" is a size that the settings differ in.
"""
import functools
import json
import operator
import sys
import zipfile
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import flop_counter
from torch.utils._pytree import tree_leaves

import make_zoo
import zoo_networks

ATTENTION = ("scaled_dot_product_attention runs as the memory-efficient CUDA kernel does, which the counter knows: two products forward and "
             "five backward, since scores are computed again. Masks, causality and dropout save nothing.")
GROUPS = ("The counter ignores groups in a convolution's weight gradient (torch 2.13: a depthwise one counts as a dense one), so here that "
          "term is divided by groups.")
# Two further sizes of each symbol; networks that cannot train on one image take the third for it.
FURTHER = {"batch": (1, 5), "sequence": (17, 200), "decoder_sequence": (33, 96), "past": (31, 511)}
aten = torch.ops.aten


def convolution_backward_flops(grad_out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, output_mask, out_val):
    def masked(keep):
        mask = [wanted and kept for wanted, kept in zip(output_mask, keep)]
        return flop_counter.conv_backward_flop(grad_out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups,
                                               mask, out_val=out_val)
    return masked((True, False, False)) + masked((False, True, False)) // groups


def takes_tensors(formula):
    """Marks a formula as the counter wants it: called with tensors, not shapes (torch's own formulas convert for themselves)."""
    marked = functools.partial(formula)
    marked._get_raw = True
    return marked


TRUE_GROUPS = {aten.convolution_backward: takes_tensors(convolution_backward_flops)}


def fused_attention(query, key, value, *_, enable_gqa=False, **__):
    """The call as fused; keys shared by several heads are repeated, which multiplies nothing."""
    if enable_gqa:
        key, value = (tensor.repeat_interleave(query.size(-3) // tensor.size(-3), -3) for tensor in (key, value))
    return aten._scaled_dot_product_efficient_attention(query, key, value, None, True)[0]


def flops(name, form, setting):
    """Forward, and forward and backward. All parameters require grad, inputs do not; the loss is the sum of outputs."""
    with FakeTensorMode(allow_non_fake_inputs=True), mock.patch("torch.nn.functional.scaled_dot_product_attention", fused_attention):
        network, inputs = zoo_networks.build(name, setting, "meta", form == "train")
        counter = flop_counter.FlopCounterMode(display=False, custom_mapping=TRUE_GROUPS)
        with counter:  # not under no_grad: that sends vit_b_16 into a fused encoder kernel that the counter does not know
            outputs = network(*inputs)
            forward = counter.get_total_flops()
            sum(output.sum() for output in tree_leaves(outputs) if output.requires_grad).backward()
    return [forward, counter.get_total_flops()]


class Recorder(torch.fx.Interpreter):
    """Runs a graph and keeps target and output types of each call in it and in the graphs that its higher-order nodes run."""

    def __init__(self, module, calls):
        super().__init__(module)
        self.calls = calls

    def call_function(self, target, arguments, keywords):
        if isinstance(target, torch._ops.HigherOrderOperator):
            if str(target) not in ("wrap_with_set_grad_enabled", "wrap_with_autocast"):
                raise RuntimeError(f"no rule for {target}")
            at = next(place for place, argument in enumerate(arguments) if isinstance(argument, torch.fx.GraphModule))
            return Recorder(arguments[at], self.calls).run(*arguments[at + 1:])
        result = super().call_function(target, arguments, keywords)
        tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        if tensors and target is not operator.getitem:
            self.calls.append((str(target), [(str(tensor.dtype).removeprefix("torch."), list(tensor.shape)) for tensor in tensors]))
        return result


def calls(name, program, setting):
    symbols = {symbol: setting[size] for size, symbol in make_zoo.symbols(name, program).items()}
    found = []
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        inputs = [torch.zeros([size if isinstance(size, int) else symbols[str(size)] for size in node.meta["val"].shape],
                              dtype=node.meta["val"].dtype) for node in program.graph.nodes if node.op == "placeholder"]
        Recorder(program.graph_module, found).run(*inputs)
    return found


def size_text(sizes):
    return str(sizes[0]) if len(set(sizes)) == 1 else "|".join(map(str, sizes))


def line(variants):
    """One call at the three settings."""
    target, outputs = variants[0]
    texts = []
    for place, (dtype, _) in enumerate(outputs):
        same = [variant[1][place] for variant in variants]
        assert all(variant[0] == target and len(variant[1]) == len(outputs) for variant in variants), variants
        assert all(other == dtype for other, _ in same), variants
        texts.append(f"{dtype}[{','.join(size_text(sizes) for sizes in zip(*(shape for _, shape in same), strict=True))}]")
    return " ".join((target, *texts))


def settings(name, form):
    network = zoo_networks.NETWORKS[name]
    def further(symbol, place):
        low, high = network.range(symbol, form == "train")
        size = FURTHER[symbol][place]
        return size if low <= size <= high else 3
    known = network.symbols()
    return [{symbol: zoo_networks.EXAMPLE[symbol] for symbol in known}] + [{symbol: further(symbol, place) for symbol in known} for place in (0, 1)]


def write_oracle(name, with_zoo):
    lines, forms = {}, {}
    for form in make_zoo.FORMS:
        program = make_zoo.export(name, form)
        if with_zoo:
            make_zoo.write_network(name, form, program)
        sizes = settings(name, form)
        nodes = [line(variants) for variants in zip(*(calls(name, program, setting) for setting in sizes), strict=True)]
        forms[form] = {"settings": sizes, "flops": [flops(name, form, setting) for setting in sizes[:2]],
                       "nodes": [lines.setdefault(node, len(lines)) for node in nodes]}
    document = {"network": name, "torch": torch.__version__, "attention": ATTENTION, "groups": GROUPS, "forms": forms, "lines": list(lines)}
    path = make_zoo.REPOSITORY / "tests/graph/oracles" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, separators=(",", ":")).replace('"forms"', '\n"forms"').replace('"train":', '\n"train":')
                    .replace('"lines":[', '\n"lines":[\n').replace('","', '",\n"') + "\n")
    assert json.loads(path.read_text()) == document
    print(f"{path.relative_to(make_zoo.REPOSITORY)}: {path.stat().st_size} bytes; {[form['flops'][0] for form in forms.values()]}", flush=True)


def node_count(graph):
    """Calls, those in the graphs of higher-order nodes instead of these nodes."""
    inner = [argument["arg"]["as_graph"]["graph"] for node in graph["nodes"] for argument in node["inputs"] if "as_graph" in argument["arg"]]
    return len(graph["nodes"]) + sum(node_count(one) - 1 for one in inner)


def table_row(name):
    nodes = []
    for form in make_zoo.FORMS:
        with zipfile.ZipFile(make_zoo.file_of(name, form)) as archive:
            model, note = (next(entry for entry in archive.namelist() if entry.endswith(end))
                           for end in ("models/model.json", "extra/joulecast.json"))
            source = json.loads(archive.read(note))["source"]
            nodes.append(node_count(json.loads(archive.read(model))["graph_module"]["graph"]))
    network = zoo_networks.NETWORKS[name]
    oracle = json.loads((make_zoo.REPOSITORY / "tests/graph/oracles" / f"{name}.json").read_text())["forms"]["eval"]
    forward = oracle["flops"][0][0] / oracle["settings"][0]["batch"]  # every FLOP is some sequence's or image's own
    inputs = ", ".join("×".join(map(str, tensor.shape)) for tensor in {id(leaf): leaf for leaf in tree_leaves(network.inputs)}.values())
    return f"| {name} | {source} | {inputs} | {network.parameters / 1e6:.2f} | {nodes[0]} | {nodes[1]} | {forward / 1e9:.3f} |"


def write_table():
    """The table in zoo/README.md, from its header line to the next empty line."""
    path = make_zoo.REPOSITORY / "zoo/README.md"
    lines = path.read_text().split("\n")
    start = next(place for place, text in enumerate(lines) if text.startswith("| name |"))
    end = lines.index("", start)
    lines[start + 2:end] = [table_row(name) for name in make_zoo.NETWORKS]
    path.write_text("\n".join(lines))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--table" not in arguments:
        for network_name in [argument for argument in arguments if argument != "--zoo"] or make_zoo.NETWORKS:
            write_oracle(network_name, "--zoo" in arguments)
    write_table()
