#!/usr/bin/env python3
"""Writes tests/torch/data/optimizers.txt: parameters after five steps of torch.optim, from a start and gradients that
tests/torch/optimizer_step_test.cpp makes by the same formulas. usage: make_optimizer_oracles.py OUTPUT"""

import sys

import torch

SHAPES = [(3, 4), (5,), (2, 2, 2)]
STEPS = 5
LEARNING_RATE = 0.05


def run(make):
    parameters = []
    for k, shape in enumerate(SHAPES):
        count = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
        parameters.append(torch.sin(count + k).float().reshape(shape).requires_grad_(True))
    optimizer = make(parameters)
    for step in range(STEPS):
        for k, parameter in enumerate(parameters):
            count = torch.arange(parameter.numel(), dtype=torch.float64)
            parameter.grad = torch.cos(count * (step + 1) + k).float().reshape(parameter.shape)
        parameters[1].grad = parameters[1].grad if step != 2 else None  # a step without a gradient
        optimizer.step()
    return torch.cat([p.detach().flatten() for p in parameters])


KINDS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=LEARNING_RATE),
    "momentum": lambda p: torch.optim.SGD(p, lr=LEARNING_RATE, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=LEARNING_RATE),
    "adamw": lambda p: torch.optim.AdamW(p, lr=LEARNING_RATE),
}

with open(sys.argv[1], "w", encoding="utf-8") as file:
    for name, make in KINDS.items():
        file.write(name + " " + " ".join(f"{value:.9g}" for value in run(make).tolist()) + "\n")
