"""The timing rule of docs/method.md, as joulecast/measure/recipe.cpp has it: warm up, blocks until the mean is known well enough.

A workload is any object with `run(calls)`, which makes that many calls and returns when they are done, and `multiple`: calls are asked
for in multiples of it.
"""
import math
import random
import time

from joulecast_measuring.statistics import settled, summarise

FEWEST_BLOCKS = 3
FEWEST_WARM_UP_CALLS = 3
# A clock that stands still must not make blocks of endless length.
MOST_CALLS_PER_BLOCK = 10**7
# Share of the budget for the number of a hot cache.
SECONDARY_SHARE = 0.4
NETWORK_BUDGET_FACTOR = 10.0


def runnable(workload, calls):
    return max(1, math.ceil(calls / workload.multiple)) * workload.multiple


def timed(workload, calls, clock):
    start = clock()
    workload.run(calls)
    return clock() - start


def warm_up(workload, settings, clock):
    """Returns the shortest time of a call, which sizes the blocks."""
    total, shortest, done, batch = 0.0, math.inf, 0, 1
    while done < FEWEST_WARM_UP_CALLS or total < settings["warm_up_s"]:
        calls = runnable(workload, batch)
        seconds = timed(workload, calls, clock)
        total += seconds
        done += calls
        shortest = min(shortest, seconds / calls)
        if shortest > settings["time_budget_s"] or done > MOST_CALLS_PER_BLOCK:
            break
        batch *= 2
        if shortest > 0.0:  # never overshoot the warm-up by more than it is long
            batch = min(batch, int(max(settings["warm_up_s"] - total, 0.0) / shortest / 2.0) + 1)
    return shortest


def first_test(call_s):
    """Blocks before the first judgement: long calls get fewer."""
    return 5 if call_s > 0.1 else 10 if call_s > 0.01 else 50


def time_calls(workload, settings, generator=None, clock=time.perf_counter):
    """(summary, seconds per call of each block in order). `settings` are those of the protocol."""
    generator = generator or random.Random(settings["seed"])
    call_s = warm_up(workload, settings, clock)
    wanted = math.ceil(settings["min_block_s"] / call_s) if call_s > 0.0 else MOST_CALLS_PER_BLOCK
    base_calls = runnable(workload, min(max(wanted, 1), MOST_CALLS_PER_BLOCK))
    blocks, converged, spent = [], False, 0.0
    fewest_to_judge = test_at = first_test(call_s)
    while True:
        # A fixed number of calls locks onto noise that repeats.
        calls = runnable(workload, round(base_calls * (1.0 + 0.2 * generator.random())))
        seconds = timed(workload, calls, clock)
        blocks.append(seconds / calls)
        spent += seconds
        if len(blocks) == test_at:
            converged = settled(summarise(blocks), settings["relative_half_width"])
            if converged:
                break
            test_at = (3 * test_at + 1) // 2
        if len(blocks) >= FEWEST_BLOCKS and spent >= settings["time_budget_s"]:
            break
    summary = summarise(blocks)
    summary["calls_per_block"] = base_calls
    summary["converged"] = converged or (len(blocks) >= fewest_to_judge and settled(summary, settings["relative_half_width"]))
    return summary, blocks


def secondary(settings):
    return dict(settings, time_budget_s=settings["time_budget_s"] * SECONDARY_SHARE, warm_up_s=settings["warm_up_s"] * SECONDARY_SHARE)


def time_numbers_of_calls(workload, numbers, clock=time.perf_counter):
    """`runs` of the protocol's time_runs: each number of calls once."""
    workload.run(runnable(workload, FEWEST_WARM_UP_CALLS))
    runs = []
    for number in numbers:
        calls = runnable(workload, number)
        runs.append({"calls": calls, "runtime_s": timed(workload, calls, clock)})
    return runs
