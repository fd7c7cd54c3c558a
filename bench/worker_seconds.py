#!/usr/bin/env python3
"""Where a torch worker's seconds go, per operation: each is measured with one part of the recipe more than before, and
the parts are the differences. Prints a table; every number in it was measured by this run.
usage: worker_seconds.py WORKER_COMMAND [--device cpu] [--repeat 3]"""

import argparse
import json
import statistics
import subprocess

OPERATIONS = [
    "aten::conv2d(input=f32[8,64,56,56]{m}, weight=f32[64,64,3,3]{m}, padding=[1,1])",
    "aten::linear(input=f32[8,197,768]{m}, weight=f32[768,768]{m}, bias=f32[768]{m})",
    "aten::relu(self=f32[8,64,56,56]{m})",
    "aten::add.Tensor(self=f32[8,256,28,28]{m}, other=f32[8,256,28,28]{m})",
    "aten::layer_norm(input=f32[8,197,768]{m}, normalized_shape=[768], weight=f32[768]{m}, bias=f32[768]{m})",
    "aten::softmax.int(self=f32[8,12,197,197]{m}, dim=-1)",
    "aten::gelu(self=f32[8,197,3072]{m})",
    "aten::mean.dim(self=f32[8,512,7,7]{m}, dim=[2,3])",
]
NOTHING = {"warm_up_s": 0.0, "time_budget_s": 1e-9, "measure_hot": False, "measure_memory": False,
           "measure_energy": False}
# In this order, each on top of those before it.
PARTS = [("make", {}), ("warm-up", {"warm_up_s": 0.05}), ("time", {"time_budget_s": 0.25}), ("hot", {"measure_hot": True}),
         ("memory", {"measure_memory": True}), ("energy", {"measure_energy": True})]


class Worker:
    def __init__(self, command):
        self.process = subprocess.Popen(command, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps({"protocol": 1, "id": "1", **request}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer["response"] == "failure":
            raise SystemExit(answer["message"])
        return answer

    def wall_s(self, operation, device, settings):
        answer = self.ask(request="measure", operation=operation, point={"device": device},
                          settings={**settings, "keep_blocks": False})["measurement"]
        if answer["outcome"] not in ("ok", "unstable"):
            raise SystemExit(f"{operation}: {answer['outcome']} {answer['message']}")
        return answer["wall_s"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("worker")
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--repeat", type=int, default=3)
    chosen = arguments.parse_args()
    worker = Worker(chosen.worker)
    hello = worker.ask(request="hello", device=chosen.device)["hello"]
    energy = "measured" if hello["measures_energy"] else "not measured: " + hello["energy_missing_reason"]
    print(f"{hello['device']['display_name']}, {hello['provenance']['framework']}; energy {energy}\n")
    print("Seconds per operation, medians of", chosen.repeat, "runs; in training `time` and `warm-up` are of forward +"
          " backward and of forward.\n")
    print("| operation | mode |" + "".join(f" {name} |" for name, _ in PARTS) + " in all |")
    print("|---|---|" + "---|" * (len(PARTS) + 1))
    totals = {"inference": [], "training": []}
    for text in OPERATIONS:
        for mode, mark in (("inference", ""), ("training", "~")):
            operation = text.replace("{m}", mark)
            settings, walls = dict(NOTHING), []
            for _, change in PARTS:
                settings.update(change)
                walls.append(statistics.median(worker.wall_s(operation, chosen.device, settings)
                                               for _ in range(chosen.repeat)))
            steps = [walls[0]] + [after - before for before, after in zip(walls, walls[1:])]
            totals[mode].append(walls[-1])
            print(f"| `{operation.split('(')[0]}` | {mode} |" + "".join(f" {step:.3f} |" for step in steps) +
                  f" {walls[-1]:.3f} |")
    for mode, walls in totals.items():
        print(f"\n{mode}: {statistics.mean(walls):.3f} s per operation on average", end="")
    print()
    worker.process.stdin.close()
    worker.process.wait()


main()
