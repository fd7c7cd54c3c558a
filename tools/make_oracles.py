#!/usr/bin/env python3
"""Writes tests/graph/oracles/<network>.json: what PyTorch itself says of the zoo's networks, for joulecast's graph to agree with.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_oracles.py            # all twelve
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_oracles.py gpt2

- flops: torch.utils.flop_counter over the eager network on fake tensors, for two batch sizes. The counter knows matrix products,
  convolutions and attention; every other operation counts zero. Two FLOPs per multiply-add.
- nodes: targets, output shapes and dtypes of a fresh export with the batch fixed at 5, so nothing in them was computed from a symbol.
"""
import functools
import json
import sys

import torch
from torch._export.serde.serialize import deserialize_scalar_type
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import flop_counter

import make_zoo

BATCHES = (2, 5)
SHAPE_BATCH = 5
ATTENTION = ("math: fake tensors on the meta device, where scaled_dot_product_attention runs as two matrix products that the counter sees "
             "as bmm; mask and causality save nothing; backward is four products. forward_backward_fused_attention: fake CPU tensors, the "
             "CPU flash kernel given the counter's own formula for fused CUDA kernels: backward is five products, since scores are "
             "computed again. (Left alone, the counter counts no attention at all on CPU; fake CUDA tensors need a driver.)")
GROUPS = ("The counter ignores groups in a convolution's weight gradient (torch 2.13: a depthwise one counts as a dense one), so here that term "
          "is divided by groups; forward_backward_groups_ignored is what the counter says left alone, attention as in math.")
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


FUSED_ATTENTION = {aten._scaled_dot_product_flash_attention_for_cpu: takes_tensors(flop_counter.sdpa_flop),
                   aten._scaled_dot_product_flash_attention_for_cpu_backward: takes_tensors(flop_counter.sdpa_backward_flop)}
TRUE_GROUPS = {aten.convolution_backward: takes_tensors(convolution_backward_flops)}


def count(name, batch, device, backward, formulas):
    """Total FLOPs and FLOPs by operator. All parameters require grad, the network's input does not; the loss is the sum of outputs."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        network, inputs = make_zoo.build(name, batch, device)
        counter = flop_counter.FlopCounterMode(display=False, custom_mapping=formulas)
        with counter:  # not under no_grad: that sends vit_b_16 into a fused encoder kernel that the counter does not know
            outputs = network(*inputs)
            if backward:
                sum(output.sum() for output in (outputs if isinstance(outputs, tuple) else (outputs,))).backward()
    by_operator = {str(operator): flops for operator, flops in counter.get_flop_counts()["Global"].items()}
    return counter.get_total_flops(), dict(sorted(by_operator.items()))


def flops(name, batch):
    forward, forward_by = count(name, batch, "meta", False, TRUE_GROUPS)
    both, both_by = count(name, batch, "meta", True, TRUE_GROUPS)
    fused_forward, _ = count(name, batch, "cpu", False, TRUE_GROUPS | FUSED_ATTENTION)
    fused_both, fused_by = count(name, batch, "cpu", True, TRUE_GROUPS | FUSED_ATTENTION)
    groups_ignored, _ = count(name, batch, "meta", True, {})
    assert fused_forward == forward, (name, fused_forward, forward)
    return {"batch": batch, "forward": forward, "forward_by_operator": forward_by,
            "forward_backward": both, "forward_backward_by_operator": both_by,
            "forward_backward_fused_attention": fused_both, "forward_backward_fused_attention_by_operator": fused_by,
            "forward_backward_groups_ignored": groups_ignored}


def output_tensors(outputs):
    """Names of the tensors among a node's outputs, in order."""
    names = []
    for output in outputs:
        kind, value = next(iter(output.items()))
        if kind == "as_tensor":
            names.append(value["name"])
        elif kind == "as_tensors":
            names += [tensor["name"] for tensor in value]
        elif not kind.startswith("as_sym_"):
            raise RuntimeError(f"no rule for an output of kind {kind}")
    return names


def saved_graph(name, dynamic_batch):
    with FakeTensorMode(allow_non_fake_inputs=True):
        network, inputs = make_zoo.build(name, SHAPE_BATCH)
        program = make_zoo.export(network, inputs, dynamic_batch)
    return json.loads(make_zoo.saved_entries(program)["models/model.json"])["graph_module"]["graph"]


def dtype_name(code):
    return str(deserialize_scalar_type(code)).removeprefix("torch.")


def nodes(name):
    graph = saved_graph(name, dynamic_batch=False)
    values = graph["tensor_values"]
    listed = []
    for node in graph["nodes"]:
        tensors = [values[tensor] for tensor in output_tensors(node["outputs"])]
        if tensors:
            shapes = [[[size["as_int"] for size in tensor["sizes"]], dtype_name(tensor["dtype"])] for tensor in tensors]
            listed.append([node["target"].removeprefix("torch.ops."), *shapes])
    dynamic = [node["target"].removeprefix("torch.ops.") for node in saved_graph(name, dynamic_batch=True)["nodes"]
               if output_tensors(node["outputs"])]
    assert dynamic == [node[0] for node in listed], f"{name}: a fixed batch exports to other nodes than a symbolic one"
    return listed


def write_oracle(name):
    document = {"network": name, "torch": torch.__version__, "attention": ATTENTION, "groups": GROUPS,
                "flops": [flops(name, batch) for batch in BATCHES],
                "shapes_at": {"batch": SHAPE_BATCH}, "nodes_without_tensor_outputs": "left out"}
    head = json.dumps(document, indent=1)[:-2]
    lines = ",\n".join(json.dumps(node, separators=(",", ":")) for node in nodes(name))
    path = make_zoo.REPOSITORY / "tests/graph/oracles" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head},\n "nodes": [\n{lines}\n]}}\n')
    json.loads(path.read_text())
    batch = document["flops"][0]
    print(f"{path.relative_to(make_zoo.REPOSITORY)}: {path.stat().st_size} bytes; batch 2 forward {batch['forward']}, "
          f"with backward {batch['forward_backward']}, fused attention {batch['forward_backward_fused_attention']}, "
          f"groups ignored {batch['forward_backward_groups_ignored']}")


if __name__ == "__main__":
    for network_name in sys.argv[1:] or make_zoo.NETWORKS:
        write_oracle(network_name)
