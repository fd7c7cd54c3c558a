"""Planned peaks of memory beside those of PyTorch itself, as a table of Markdown on standard output.

usage: memory_peaks.py JOULECAST [--batch N] [--device ID] NETWORK...   JOULECAST: the program; NETWORK: names of the zoo

Each network is run by Python on this machine's CPU, one inference and one training step (forward, a gradient for each
output, backward), and the allocations that torch.profiler reports are added up: the largest sum is the peak above what
was there before, parameters and inputs. Beside it stands peak_memory_bytes of joulecast predict on --device.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import zoo_networks  # noqa: E402


def peak_bytes(work):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        kept = work()
    events = [event for event in recorded.profiler.kineto_results.events() if event.name() == "[memory]"]
    del kept
    alive = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        alive += event.nbytes()
        peak = max(peak, alive)
    return peak


def floating(outputs):
    leaves = torch.utils._pytree.tree_leaves(outputs)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]


class Loss(torch.autograd.Function):
    """Gives a gradient of full size for each output, as a loss does, which nobody holds beside autograd."""

    @staticmethod
    def forward(ctx, *ends):
        ctx.kinds = [(end.shape, end.dtype) for end in ends]
        return torch.zeros(())

    @staticmethod
    def backward(ctx, _):
        return tuple(torch.ones(shape, dtype=dtype) for shape, dtype in ctx.kinds)


def measured(name, batch, mode):
    module, inputs = zoo_networks.build(name, {"batch": batch}, train=mode == "training")

    def infer():
        with torch.no_grad():
            return module(*inputs)

    def step():
        module.zero_grad(set_to_none=True)
        outputs = module(*inputs)
        Loss.apply(*floating(outputs)).backward()
        return outputs

    work = infer if mode == "inference" else step
    work()
    module.zero_grad(set_to_none=True)
    return peak_bytes(work)


def planned(program, name, device, batch, mode):
    command = [program, "predict", name, "--device", device, "--set", f"batch={batch}", "--mode", mode, "--format", "json"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if not ran.stdout:
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    return json.loads(ran.stdout)["predictions"][0]["peak_memory_bytes"]["value"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("networks", nargs="+")
    options = parser.parse_args()
    print("| network | mode | measured, MB | planned, MB | error |\n|---|---|---:|---:|---:|", flush=True)
    errors = {"inference": [], "training": []}
    for name in options.networks:
        for mode in errors:
            seen = measured(name, options.batch, mode)
            plan = planned(options.program, name, options.device, options.batch, mode)
            errors[mode].append(plan / seen - 1)
            print(f"| {name} | {mode} | {seen / 1e6:.2f} | {plan / 1e6:.2f} | {100 * errors[mode][-1]:.2f} % |", flush=True)
    for mode, values in errors.items():
        sizes = [abs(value) for value in values]
        print(f"\n{mode}: {len(sizes)} networks, mean {100 * statistics.mean(sizes):.2f} %, median "
              f"{100 * statistics.median(sizes):.2f} %, worst {100 * max(values, key=abs):.2f} %")


if __name__ == "__main__":
    main()
