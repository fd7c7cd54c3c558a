"""Where TVM's kernels run: in this process, or on a board that is reached by TVM's RPC, compiled here for it."""
import json
import os
import tempfile
import threading

import tvm
from tvm import relax, rpc

# Of a connection, and of one request that a board answers; `profile` has its own patience on top.
CONNECT_S = 30.0
SESSION_S = 3600
WARM = "timed on the board by TVM, each run after another on the same tensors: the cache is warm where they fit"
NEEDED = ("peak_flop_per_s_fp32", "bandwidth_bytes_per_s")
DEVICE_FIELDS = {"id": str, "display_name": str, "kind": str, "vendor": str, "architecture": str, "source": str}


class Calls:
    """A compiled function over sets of tensors in turn; one run of it makes `multiple` calls."""

    def __init__(self, run, multiple, sets):
        self.call, self.multiple, self.sets, self.next = run, multiple, sets, 0

    def run(self, calls):
        for _ in range(calls // self.multiple):
            self.call(*self.sets[self.next])
            self.next = (self.next + 1) % len(self.sets)


class Here:
    """This CPU."""
    board, message = None, ""

    def target(self):
        return tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")(), "num-cores": 1})

    def loaded(self, made):
        return relax.VirtualMachine(made, tvm.cpu())["main"]

    def tensor(self, array):
        return tvm.runtime.tensor(array)

    def results(self, run, tensors):
        return run(*tensors)

    def calls(self, run, multiple, sets):
        return Calls(run, multiple, sets)


class BoardCalls(Calls):
    """The board times each run itself, so that what the network between takes is no part of own_s()."""

    def __init__(self, machine, device, multiple, sets):
        super().__init__(machine.set_input, multiple, sets)
        self.evaluate = machine.time_evaluator("invoke_stateful", device, number=1)
        self.seconds, self.runs = 0.0, 0

    def run(self, calls):
        for _ in range(calls // self.multiple):
            self.call("main", *self.sets[self.next])
            self.seconds += self.evaluate("main").mean
            self.runs += 1
            self.next = (self.next + 1) % len(self.sets)

    def own_s(self):
        return self.seconds / self.runs / self.multiple if self.runs else None


class Board:
    """A machine that runs `python -m tvm.exec.rpc_server`."""
    no_meter = "the board is reached by TVM's RPC, which reads no meter; run the worker on it for energy: --worker \"ssh BOARD joulecast-tvm\""
    message = WARM

    def __init__(self, address, triple, cpu, compiler, device):
        self.triple, self.cpu, self.compiler, self.device, self.machine = triple, cpu, compiler, device, f"{device['id']} at {address}"
        self.session = connected(address)
        self.remote = self.session.cpu()
        self.board, self.made = self, 0

    def target(self):
        told = {"mtriple": self.triple, "mcpu": self.cpu}
        return tvm.target.Target({"kind": "llvm", "num-cores": 1} | {name: value for name, value in told.items() if value})

    def loaded(self, made):
        self.made += 1
        name = f"joulecast{self.made}.so"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            made.export_library(path, **({"cc": self.compiler} if self.compiler else {}))
            self.session.upload(path)
        try:
            return relax.VirtualMachine(self.session.load_module(name), self.remote)
        finally:
            self.session.remove(name)

    def tensor(self, array):
        return tvm.runtime.tensor(array, self.remote)

    def results(self, run, tensors):
        run.set_input("main", *tensors)
        run.invoke_stateful("main")
        return run.get_outputs("main")

    def calls(self, run, multiple, sets):
        return BoardCalls(run, self.remote, multiple, sets)


def connected(address):
    """A session of TVM's RPC; ends the process with the reason where there is none."""
    host, _, port = address.rpartition(":")
    found = []

    def connect():
        try:
            found.append(rpc.connect(host, int(port), session_timeout=SESSION_S))
        except Exception as error:  # whatever TVM raises is the reason
            found.append(str(error).strip().splitlines()[-1])
    # The call into TVM cannot be stopped: where nobody answers, it is left behind.
    waiting = threading.Thread(target=connect, daemon=True)
    waiting.start()
    waiting.join(CONNECT_S)
    if not found:
        raise SystemExit(f"joulecast-tvm: {address} takes connections and does not answer within {CONNECT_S:.0f} s. Is it TVM's? On the board: "
                         f"python3 -m tvm.exec.rpc_server --host 0.0.0.0 --port {port}")
    if isinstance(found[0], str):
        raise SystemExit(f"joulecast-tvm: no RPC server of TVM at {address}: {found[0]}. On the board: "
                         f"python3 -m tvm.exec.rpc_server --host 0.0.0.0 --port {port}")
    return found[0]


def device_of(path):
    """The facts of a board out of a JSON file: fields of `device` in hello (docs/worker-protocol.md), of which `id` and NEEDED must be there."""
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError) as error:
        raise SystemExit(f"joulecast-tvm: {path} cannot be read: {error}") from None
    if not isinstance(told, dict) or not isinstance(told.get("id"), str) or not told["id"]:
        raise SystemExit(f"joulecast-tvm: {path} names no device. It needs at least {{\"id\": \"odroid-n2\"}}")
    for name, value in told.items():
        wanted = DEVICE_FIELDS.get(name, (int, float))
        if isinstance(value, bool) or not isinstance(value, wanted):
            raise SystemExit(f"joulecast-tvm: {path}: {name} is {value!r}, and should be {'a text' if wanted is str else 'a number'}")
    for name in NEEDED:
        if not told.get(name, 0) > 0:
            raise SystemExit(f"joulecast-tvm: {path} lacks {name}, without which nothing can be forecast for the board "
                             "(docs/tvm.md says how to work it out)")
    return {"display_name": told["id"], "kind": "cpu", "vendor": "", "architecture": "", "units": 1,
            "source": f"written by the user ({os.path.basename(path)})"} | told
