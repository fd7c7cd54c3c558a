#!/usr/bin/env python3
"""Writes tests/graph/oracles_channels_last/<network>.txt: how torch lays what the zoo's networks compute after .to(memory_format=torch.channels_last).

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_channels_last_oracles.py             # the networks below
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_channels_last_oracles.py resnet18

The network is exported with its weights and two images that lie with their channels last, on a CPU. A line for each tensor that a call
makes, in order: the call's target, its sizes, its strides.
"""
import sys
import warnings
from pathlib import Path

import torch
from torch.utils._pytree import tree_leaves, tree_map

import make_zoo

NETWORKS = ["densenet121", "googlenet", "mobilenet_v3_small", "resnet18", "shufflenet_v2_x1_0", "swin_t"]
FOLDER = Path(__file__).resolve().parent.parent / "tests/graph/oracles_channels_last"


def turned(tensor):
    return tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def export(name):
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        network, inputs = make_zoo.build(name, 2)
        return torch.export.export(network.to(memory_format=torch.channels_last), tree_map(turned, inputs), strict=False)


def text(numbers):
    return ",".join(map(str, numbers))


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or NETWORKS:
        lines = []
        for node in export(name).graph.nodes:
            if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
                continue
            lines += [f"{node.target} {text(made.shape)} {text(made.stride())}" for made in tree_leaves(node.meta["val"])
                      if isinstance(made, torch.Tensor)]
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(name, len(lines))


if __name__ == "__main__":
    main()
