"""JSON lines in, JSON lines out until `quit` or the end of input: all of a worker but its engine.

An engine is an object with

- `name`, `framework` ("numpy 2.4.6"), `worker` ("joulecast-numpy"), `host`, `dtypes`, `measures_graphs`, `most_threads` (None: as many as
  there are processors);
- `operation(operation, request)`, which returns a Trial, or raises Unsupported, OutOfMemory or whatever its library raises;
- `network(graph, request)`, the same for a whole network, where `measures_graphs` is true;
- `board`, where it measures another machine than this one: an object with `device` (of the protocol's hello), `machine` and `no_meter`, the
  reason why there is no energy.

A Request tells threads, settings, how many sets of tensors to rotate over, and makes contents.
"""
import dataclasses
import errno
import functools
import json
import math
import os
import secrets
import signal
import sys
import time
import traceback

from joulecast_measuring import metering, this_cpu
from joulecast_measuring.contents import Maker
from joulecast_measuring.recipe import NETWORK_BUDGET_FACTOR, secondary, time_calls, time_numbers_of_calls
from joulecast_measuring.requests import (POINT, SETTINGS, FormatError, OutOfMemory, Refused, Unsupported, calls_of, check_version, fields,
                                          graph_of, parsed, parse_operation)
from joulecast_measuring.statistics import UNSTABLE_HALF_WIDTH

VERSION = "0.1.0"
MOST_SETS = 4096
# What `time` and `energy` say of one call.
PER_CALL = {"mean_s", "median_s", "half_width_s", "p05_s", "p95_s", "energy_j", "dynamic_energy_j", "half_width_j"}
# Where the size of the last-level cache is not told.
COMMON_CACHE_BYTES = 32 << 20
SAYS_OUT_OF_MEMORY = ("not enough memory", "out of memory", "bad allocation", "bad_alloc", "Failed to allocate memory",
                      "Unable to allocate")
# Heavy, and short against any meter's period.
LOAD = "aten::matmul(self=f32[384,384], other=f32[384,384])"
# Of a worker that cannot go on for a reason that is none of its request's: EX_TEMPFAIL of sysexits.h.
NO_FAULT_OF_THE_REQUEST = 75
NO_CLOCKS = "the operating system sets a CPU's clocks. Choose a governor (cpupower frequency-set) and ask for the current clock"


@dataclasses.dataclass
class Trial:
    """What is measured. `whole` and `hot` have `run(calls)` and `multiple` (recipe.py), and `own_s()` where the engine itself counts what a
    call takes without what surrounds it when it is called alone (own_share()); `make_hot` makes the second only when it is its
    turn, and `before_whole` ends it."""
    whole: object
    make_hot: object = None  # a function without arguments, or None: there is no number of a hot cache
    make_whole: object = None  # where `whole` is made when it is its turn
    make_exact: object = None  # where `whole` makes several calls at once: a workload of any number of calls, for time_runs
    rotation: int = 1
    working_set_bytes: float = 0.0
    resident_bytes: float = 0.0
    peak_memory_bytes: object = None  # a function without arguments
    message: str = ""
    more: dict = dataclasses.field(default_factory=dict)  # further fields of the answer


def told_kernels(found, glue=lambda name: False):
    """`more` of a network's Trial. `found` has {"kernel": name, "operations": numbers of the graph's calls} for each kernel in the order in
    which they run. Kernels that are `glue` only change layouts and do not count in `fused_share`: of the calls that run, how many run in one
    kernel with another."""
    counted = [kernel["operations"] for kernel in found if not glue(kernel["kernel"])]
    run = {call for calls in counted for call in calls}
    fused = {call for calls in counted if len(calls) > 1 for call in calls}
    return {"kernels": found, "fused_share": len(fused) / len(run) if run else 0.0}


def own_share(workload, summary):
    """Part of a call's time that is the call's own, where an engine's counters tell it (`own_s()` of a workload: seconds of a call in the
    mean of all runs); else all of it."""
    own_s = workload.own_s() if hasattr(workload, "own_s") else None
    return min(1.0, own_s / summary["mean_s"]) if own_s and summary["mean_s"] > 0 else 1.0


def scaled(numbers, share):
    """Seconds and joules of `time` or `energy`, times a share."""
    return numbers and {name: share * value if name in PER_CALL and value is not None else value for name, value in numbers.items()}


class Request:
    """What an engine needs to know besides the operation."""

    def __init__(self, settings, threads, processors, cache_bytes):
        self.settings, self.threads, self.processors = settings, threads, processors
        self.cache_bytes = cache_bytes or COMMON_CACHE_BYTES
        self.available_bytes = this_cpu.available_memory_bytes()
        self.maker = Maker(settings["seed"])

    @property
    def working_set_bytes(self):
        return self.settings["working_set_bytes"] or 3.0 * self.cache_bytes

    def rotation(self, set_bytes):
        """Different sets of tensors to go through, so that none is in the cache when its turn comes; a quarter of the memory at most."""
        if set_bytes <= 0:
            return 1
        wanted = min(max(math.ceil(self.working_set_bytes / set_bytes), 2), MOST_SETS)
        return max(1, min(wanted, int(self.available_bytes / 4 / set_bytes)))

    def require_memory(self, size, what):
        if self.available_bytes and size > 0.9 * self.available_bytes:
            raise OutOfMemory(f"not enough memory: {what} take {size / 1e9:.3g} GB, {self.available_bytes / 1e9:.3g} GB are available")


class NoRoom(Exception):
    """The disk is full: no fault of the request, and the next one would find the same."""


def first_line(text):
    return text.strip().splitlines()[0][:500] if text.strip() else ""


def outcome_of(error):
    """(outcome, message) of what a trial raised."""
    text = first_line(str(error)) or type(error).__name__
    if isinstance(error, (OutOfMemory, MemoryError)) or any(sign in str(error) for sign in SAYS_OUT_OF_MEMORY):
        return "out_of_memory", text
    return "unsupported", text


def no_time():
    return {"mean_s": None, "median_s": None, "half_width_s": None, "p05_s": None, "p95_s": None, "blocks": 0, "effective_blocks": 0.0,
            "dropped_blocks": 0, "calls_per_block": 0, "converged": False}


def precision_of(graph):
    """After what most of the weights are."""
    size = {"f32": 0, "bf16": 0, "f16": 0}
    for item in graph.inputs:
        if item.type.dtype in size:
            size[item.type.dtype] += item.type.bytes
    if size["bf16"] > size["f32"] and size["bf16"] >= size["f16"]:
        return "bf16"
    return "fp16" if size["f16"] > size["f32"] else "fp32"


class Service:
    """Answers requests with an engine."""

    def __init__(self, engine):
        self.engine = engine
        board = getattr(engine, "board", None)
        self.device = board.device if board else this_cpu.this_cpu()
        self.machine, self.governor = (board.machine, "") if board else (this_cpu.machine(), this_cpu.governor())
        # Before anything is pinned.
        self.processors, self.cores = this_cpu.processors()
        self.meter = metering.NoMeter(board.no_meter) if board else metering.Meter(self.device["id"])
        self.session, self.started = secrets.token_hex(8), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def hello(self):
        engine, no_meter = self.engine, self.meter.missing_reason({"measure_energy": True, "meter": "auto"})
        provenance = {"session": self.session, "started": self.started, "worker": f"{engine.worker} {VERSION}",
                      "framework": engine.framework, "machine": self.machine, "governor": self.governor, "method": "joulecast",
                      "settings": json.dumps({name: default for name, (default, _) in SETTINGS.items()}), "source": ""}
        return {"provenance": provenance, "engine": engine.name, "device": self.device, "device_names": ["cpu"], "dtypes": engine.dtypes,
                "modes": ["inference"], "measures_graphs": engine.measures_graphs, "measures_energy": not no_meter,
                "energy_missing_reason": no_meter, "hosts": [engine.host], "boot_id": this_cpu.read("/proc/sys/kernel/random/boot_id")[:64],
                "locks_clocks": False, "clocks_missing_reason": NO_CLOCKS, "sm_clocks_mhz": [], "power_limit_low_w": None,
                "power_limit_high_w": None}

    def point(self, asked, settings):
        """(the point that holds, threads); raises Refused for what cannot be had."""
        engine = self.engine
        if asked["engine"] != engine.name:
            raise Refused(f"cannot measure with engine {asked['engine']}: {engine.worker} runs {engine.name}. Take a worker of that engine.")
        if asked["device"] not in ("cpu", self.device["id"]):
            raise Refused(f"there is no device {asked['device']}: {engine.worker} measures on cpu")
        if asked["host"] != engine.host:
            raise Refused(f"cannot measure with host {asked['host']}: {engine.worker} issues from {engine.host}. Ask for that.")
        if any(asked[name] is not None for name in ("sm_clock_mhz", "memory_clock_mhz", "power_limit_w")):
            raise Refused(f"cannot measure at a given clock or power limit on cpu: {NO_CLOCKS}.")
        if asked["math"] != "ieee":
            raise Refused("cannot measure with tf32 on cpu: only GPUs have it. Ask for ieee.")
        if settings["method"] != "joulecast":
            raise Refused(f"cannot measure by the method {settings['method']}: {engine.worker} knows joulecast's. Ask for that.")
        most = engine.most_threads or len(self.processors)
        threads = settings["threads"] or asked["threads"] or min(self.cores, most)
        if threads > min(most, len(self.processors)):
            raise Refused(f"cannot measure with {threads} threads: this process may use {len(self.processors)} processors, and "
                          f"{engine.worker} at most {most}. Ask for at most that many.")
        return dict(asked, device=self.device["id"], host_cpu=self.device["id"], threads=threads), threads

    def request_of(self, request):
        settings, asked = fields(request, "settings", SETTINGS), fields(request, "point", POINT)
        real, threads = self.point(asked, settings)
        if hasattr(os, "sched_setaffinity"):
            try:
                os.sched_setaffinity(0, {self.processors[0]})
            except OSError:
                pass  # best effort: containers may forbid it
        this_cpu.limit_memory_growth()
        return asked, real, Request(settings, threads, self.processors, self.device.get("last_level_cache_bytes"))

    def measure_trial(self, make, asked, real, request, answer):
        """Fills the answer; a trial that fails is an outcome."""
        start, settings = time.perf_counter(), request.settings
        answer |= {"asked": asked, "real": real, "outcome": "ok", "message": "", "time": no_time(), "forward": None, "issue": None,
                   "energy": None, "energy_missing_reason": "", "conditions": {},
                   "workspace_bytes": None, "peak_memory_bytes": None, "block_s": []}
        try:
            trial = make()
            self.take_times(trial, settings, answer)
            if settings["measure_memory"] and trial.peak_memory_bytes is not None:
                answer["peak_memory_bytes"] = float(trial.peak_memory_bytes())
            answer |= {name: getattr(trial, name) for name in ("rotation", "working_set_bytes", "resident_bytes") if name in answer}
            answer |= trial.more
        except Exception as error:  # whatever the engine's library raises is the outcome of this trial alone
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise NoRoom(this_cpu.why_no_room() or str(error)) from error
            if not isinstance(error, (Unsupported, OutOfMemory)):
                traceback.print_exc()
            answer["outcome"], answer["message"] = outcome_of(error)
            answer["time"], answer["block_s"] = no_time(), []
            answer["energy"], answer["energy_missing_reason"] = None, "the trial failed"
        self.add_conditions(answer)
        answer["wall_s"] = time.perf_counter() - start

    def add_conditions(self, answer):
        found = self.meter.end()
        clock_mhz = found.pop("clock_mhz", None)
        if clock_mhz is not None:
            answer["real"]["sm_clock_mhz"] = clock_mhz
        answer["conditions"] = {"performance_state": self.governor} | found

    def take_times(self, trial, settings, answer):
        if trial.make_hot is not None and settings["measure_hot"] and "hot" in answer:
            hot = trial.make_hot()
            found, _ = time_calls(hot, secondary(settings))
            answer["hot"] = scaled(found, own_share(hot, found))
        whole = trial.make_whole() if trial.make_whole is not None else trial.whole
        longer = settings if "hot" in answer else dict(settings, time_budget_s=settings["time_budget_s"] * NETWORK_BUDGET_FACTOR)
        self.meter.begin()
        start = time.perf_counter()
        answer["time"], blocks = time_calls(whole, longer)
        answer["energy"], answer["energy_missing_reason"] = self.meter.energy(whole, answer["time"], time.perf_counter() - start, settings)
        share = own_share(whole, answer["time"])
        answer["time"], answer["energy"] = scaled(answer["time"], share), scaled(answer["energy"], share)
        blocks = [share * block for block in blocks]
        answer["message"] = trial.message
        if settings["keep_blocks"]:
            answer["block_s"] = blocks
        if answer["time"]["half_width_s"] > UNSTABLE_HALF_WIDTH * answer["time"]["mean_s"]:
            answer["outcome"] = "unstable"
            answer["message"] = "; ".join(filter(None, [
                "the 95 % half width is beyond 10 % of the mean: something else uses this machine", trial.message]))

    def measure(self, request):
        operation = parse_operation(text_of(request, "operation"))
        asked, real, wanted = self.request_of(request)
        answer = {"operation": request["operation"], "hot": None, "rotation": 1, "working_set_bytes": 0.0}
        self.measure_trial(functools.partial(self.trial_of, operation, wanted), asked, real, wanted, answer)
        return answer

    def trial_of(self, operation, request):
        if any(type_.requires_grad for _, type_ in operation.tensors()):
            raise Unsupported(f"{self.engine.worker} measures inference alone")
        request.require_memory(sum(type_.bytes for _, type_ in operation.tensors()), "the operation's tensors")
        return self.engine.operation(operation, request)

    def measure_graph(self, request):
        if not self.engine.measures_graphs:
            raise Refused(f"{self.engine.worker} measures no networks")
        graph = graph_of(request.get("graph"))
        asked, real, wanted = self.request_of(request)
        answer = {"model": graph.name, "symbols": graph.symbols, "mode": graph.mode, "precision": precision_of(graph), "optimizer": "none",
                  "resident_bytes": 0.0}

        def make():
            if graph.mode != "inference":
                raise Unsupported(f"{self.engine.worker} measures inference alone")
            wanted.require_memory(sum(item.type.bytes for item in graph.inputs), "the network's weights and inputs")
            return self.engine.network(graph, wanted)

        self.measure_trial(make, asked, real, wanted, answer)
        return answer

    def time_runs(self, request):
        operation, calls = parse_operation(text_of(request, "operation")), calls_of(request)
        _, _, wanted = self.request_of(request)
        try:
            trial = self.trial_of(operation, wanted)
            make = trial.make_exact or trial.make_whole
            return time_numbers_of_calls(make() if make is not None else trial.whole, calls)
        except Exception as error:
            raise Refused(": ".join(outcome_of(error))) from None

    def prepare(self, request):
        _, real, wanted = self.request_of(request)
        no_meter = self.meter.missing_reason(wanted.settings)
        if no_meter == metering.NO_PROGRAM:
            raise Refused(f"{self.engine.worker} has nothing to prepare: {no_meter}")
        prepared = {"real": real, "soak_s": None, "temperature_c": None, "settled": True, "idle_power_w": None, "meter": "",
                    "meter_period_s": None, "suspect": False, "message": no_meter}
        self.meter.begin()
        if no_meter and self.meter.end()["temperature_c"] is None:
            return prepared  # nothing tells when it is warm
        try:
            trial = self.trial_of(parse_operation(LOAD), wanted)
            make = trial.make_exact or trial.make_whole
            workload = make() if make is not None else trial.whole
            call_s = time_calls(workload, dict(wanted.settings, time_budget_s=0.02))[0]["mean_s"]
            return prepared | self.meter.prepare(workload, call_s, wanted.settings["longest_soak_s"])
        except (metering.Lost, Unsupported, OutOfMemory) as error:
            return dict(prepared, message=str(error))

    def answer(self, line):
        """The answer as an object; None after `quit`."""
        identity = ""
        try:
            request = parsed(line)
            identity = request["id"] if isinstance(request.get("id"), str) else ""
            check_version(request)
            kind = text_of(request, "request")
            text_of(request, "id")
            if kind == "quit":
                return None
            if kind not in RESPONSES:
                raise FormatError(f"field request is {kind[:80]!r}, which is none of {', '.join(RESPONSES)}, quit")
            response, body = RESPONSES[kind], self.hello() if kind == "hello" else getattr(self, kind)(request)
            if kind == "hello" and request.get("device", "cpu") not in ("cpu", self.device["id"]):
                raise Refused(f"there is no device {request['device']}: {self.engine.worker} measures on cpu")
            return {"protocol": 1, "id": identity, "response": response, response: body}
        except NoRoom:
            raise
        except (FormatError, Refused) as error:
            message = str(error)
        except Exception as error:
            traceback.print_exc()
            message = f"{type(error).__name__}: {first_line(str(error))}"
        return {"protocol": 1, "id": identity, "response": "failure", "message": message}


RESPONSES = {"hello": "hello", "prepare": "prepared", "measure": "measurement", "measure_graph": "network", "time_runs": "runs"}


def text_of(request, name):
    if not isinstance(request.get(name), str):
        raise FormatError(f"field {name} is no text" if name in request else f"field {name} is missing")
    return request[name]


def without_nan(value):
    """JSON has no NaN and no infinity: null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: without_nan(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value


def write_error_line(worker, text):
    """A line of standard error in which nothing steers a terminal: names of files and messages of libraries stand in it."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    print(f"{worker}: {shown}", file=sys.stderr)


def main(worker, make_engine, missing):
    """Serves until the end, and ends the process. `make_engine` imports the engine's library; where that is not installed, `missing` is
    the line that says how to get it."""
    # A library that prints must not do it between our lines: the real standard output is ours alone, and what is printed goes to
    # standard error. Before anything else is imported, since imports print too.
    try:
        output = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        sys.exit(1)  # nobody can read why
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if metering.packed_for() not in ("", os.uname().machine):
        write_error_line(worker, f"this worker was packed for {metering.packed_for()}, and this machine ({os.uname().nodename}) is "
                         f"{os.uname().machine}. Pack another: joulecast pack-worker --target {os.uname().machine}")
        end(1)
    try:
        engine = make_engine()
    except ImportError as error:
        write_error_line(worker, f"{sys.executable} cannot import {error.name or error}. {missing}")
        end(1)
    if this_cpu.why_no_room():
        write_error_line(worker, this_cpu.why_no_room())
        end(NO_FAULT_OF_THE_REQUEST)
    service = Service(engine)
    try:
        answer_lines(service, output)
    except NoRoom as full:
        write_error_line(worker, str(full))
        end(NO_FAULT_OF_THE_REQUEST)
    end(0)


def answer_lines(service, output):
    with os.fdopen(output, "w", encoding="utf-8", newline="\n") as lines:
        while line := sys.stdin.buffer.readline(_LONGEST_READ):
            if not line.strip():
                continue
            answer = service.answer(line)
            if answer is None:
                break
            try:
                lines.write(json.dumps(without_nan(answer), allow_nan=False) + "\n")
                lines.flush()
            except OSError:
                end(1)  # whoever asked is gone
            if len(line) >= _LONGEST_READ:
                end(1)


# One more than the longest line, so that a longer one is seen as such.
_LONGEST_READ = (64 << 20) + 2


def end(status):
    """Without the interpreter's own ending: threads of libraries may hold it, and there is nothing to save."""
    sys.stderr.flush()
    os._exit(status)
