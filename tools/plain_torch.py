#!/usr/bin/env python3
"""Measures whole networks with nothing but PyTorch, as a user would, to hold forecasts and joulecast's own workers against.

    tools/plain_torch.py -o truth.jsonl resnet50 bert-base --batch 1 8 64 --precision default bf16 --mode inference training

One JSON line per run: seconds per call (median of blocks of calls, each block waited for at its end), watts (NVML's energy
counter over --seconds of calls, from tick to tick), joules per call (their product), the clock read at the end, bytes at the
peak (the caching allocator's), and seconds that the host takes to issue a call. Nothing of joulecast is used but the list of networks (zoo_networks.py). Clocks are left as they are.
"""
import argparse
import contextlib
import itertools
import json
import statistics
import sys
import time

import torch

import zoo_networks

AUTOCAST = {"amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}
CAST = {"bf16": torch.bfloat16, "fp16": torch.float16}
BLOCK_S = 0.05
BLOCKS = 11


class Energy:
    """The card's energy counter and its clock, by NVML."""

    def __init__(self):
        import pynvml
        pynvml.nvmlInit()
        self.nvml = pynvml
        self.card = pynvml.nvmlDeviceGetHandleByIndex(0)

    def read(self):
        return self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.card) / 1e3

    def clock_mhz(self):
        return self.nvml.nvmlDeviceGetClockInfo(self.card, self.nvml.NVML_CLOCK_SM)


def set_precision(name):
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    torch.backends.cudnn.allow_tf32 = name in ("tf32", "default")


@torch.no_grad()
def fill(network, inputs):
    """Random numbers everywhere: products of zeros run faster and cooler. Token ids stay below the smallest vocabulary."""
    for weight in network.parameters():
        if weight.dim() > 1:
            weight.normal_(std=weight[0].numel() ** -0.5)
    for leaf in torch.utils._pytree.tree_leaves(inputs):
        if leaf.is_floating_point():
            leaf.normal_()
        else:
            leaf.random_(0, 30000)


def floating_inputs_to(inputs, dtype):
    return torch.utils._pytree.tree_map(lambda leaf: leaf.to(dtype) if leaf.is_floating_point() else leaf, inputs)


def total(outputs):
    """The sum of all results that carry a gradient, as a loss."""
    tensors = [leaf for leaf in torch.utils._pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    return sum(tensor.float().sum() for tensor in tensors)


def make_call(name, batch, precision, mode, device):
    network, inputs = zoo_networks.build(name, {"batch": batch}, device, mode == "training")
    fill(network, inputs)
    if precision in CAST:
        network, inputs = network.to(CAST[precision]), floating_inputs_to(inputs, CAST[precision])
    autocast = contextlib.nullcontext
    if precision in AUTOCAST:
        def autocast():
            return torch.autocast(device, AUTOCAST[precision])
    if mode == "inference":
        @torch.inference_mode()
        def call():
            with autocast():
                network(*inputs)
        return call
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-6)

    def step():
        optimizer.zero_grad()
        with autocast():
            loss = total(network(*inputs))
        loss.backward()
        optimizer.step()
    return step


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def run_for(call, seconds, call_s, device, done=lambda: True):
    """Calls back to back for at least so long and until done(), never more than about 20 ms issued ahead."""
    chunk = max(1, round(0.02 / call_s))
    start = time.perf_counter()
    while True:
        for _ in range(chunk):
            call()
        wait(device)
        if time.perf_counter() - start >= seconds and done():
            return


def power_of(call, call_s, seconds, meter, device):
    """Mean watts from one tick of the counter to another, calls running all the while but for the reads."""
    last = meter.read()

    def moved():
        return meter.read() != last
    run_for(call, 0.3, call_s, device, moved)
    start_j, start_s = meter.read(), time.perf_counter()
    run_for(call, seconds, call_s, device)
    last = meter.read()
    run_for(call, 0.0, call_s, device, moved)
    return (meter.read() - start_j) / (time.perf_counter() - start_s)


def measure(name, batch, precision, mode, seconds, meter, device):
    set_precision(precision)
    call = make_call(name, batch, precision, mode, device)
    for _ in range(3):
        call()
    wait(device)
    start = time.perf_counter()
    for _ in range(3):
        call()
    wait(device)
    call_s = (time.perf_counter() - start) / 3
    run_for(call, 0.2, call_s, device)
    per_block = max(1, round(BLOCK_S / call_s))
    blocks, issued = [], []
    for _ in range(BLOCKS):
        start = time.perf_counter()
        for _ in range(per_block):
            call()
        issued.append((time.perf_counter() - start) / per_block)
        wait(device)
        blocks.append((time.perf_counter() - start) / per_block)
    result = {"network": name, "batch": batch, "precision": precision, "mode": mode, "time_s": statistics.median(blocks),
              "fastest_s": min(blocks), "slowest_s": max(blocks), "issue_s": statistics.median(issued)}
    if meter is not None:
        result["power_w"] = power_of(call, result["time_s"], seconds, meter, device)
        result["energy_j"] = result["power_w"] * result["time_s"]
        result["clock_mhz"] = meter.clock_mhz()
    if device == "cuda":
        resident = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        wait(device)
        result["resident_bytes"], result["peak_bytes"] = resident, torch.cuda.max_memory_allocated()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--precision", nargs="+", default=["default"],
                        choices=["fp32", "tf32", "default", *CAST, *AUTOCAST])
    parser.add_argument("--mode", nargs="+", default=["inference"], choices=["inference", "training"])
    parser.add_argument("--seconds", type=float, default=1.0, help="of the energy window")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no further run begins")
    parser.add_argument("--benchmark", action="store_true", help="let cuDNN try its algorithms")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cudnn.benchmark = arguments.benchmark
    meter = Energy() if device == "cuda" else None
    end = time.perf_counter() + arguments.budget
    with open(arguments.output, "a") as output:
        runs = itertools.product(arguments.networks, arguments.mode, arguments.precision, arguments.batch)
        for name, mode, precision, batch in runs:
            if time.perf_counter() > end:
                return
            try:
                line = measure(name, batch, precision, mode, arguments.seconds, meter, device)
            except Exception as error:  # the next one may do better
                line = {"network": name, "batch": batch, "precision": precision, "mode": mode, "error": str(error)[:300]}
            line["cudnn_benchmark"], line["torch"] = arguments.benchmark, torch.__version__
            print(json.dumps(line), file=output, flush=True)
            print(json.dumps(line), file=sys.stderr)
            if device == "cuda":
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
