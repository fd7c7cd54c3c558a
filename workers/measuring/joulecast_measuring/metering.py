"""Energy and conditions through the program joulecast-meter, which has the C++ workers' own meters, windows and calibration.

It lies in this package where the package was packed for a board (`joulecast pack-worker`), else beside joulecast's other programs, or is
the command in $JOULECAST_METER. docs/energy.md, "The program joulecast-meter", has its lines. Without it a worker measures no energy.
"""
import json
import math
import os
import pathlib
import shlex
import subprocess
import time

NO_PROGRAM = "the program joulecast-meter, which reads meters, is not beside this worker"
UNKNOWN = {"temperature_c": None, "throttle_reasons": 0, "limited_by": "unknown"}


class Lost(Exception):
    """The program ended or answered something else: what is measured goes on without energy."""


def command():
    """The program's words; None: it is nowhere."""
    given = os.environ.get("JOULECAST_METER", "")
    if given:
        return [given] if os.path.exists(given) else shlex.split(given)
    packed = pathlib.Path(__file__).resolve().parent / "joulecast-meter"
    return [str(packed)] if packed.exists() else None


def packed_for():
    """The processor that `joulecast pack-worker` packed this for; empty where it did not."""
    try:
        from joulecast_measuring.target import TARGET
    except ImportError:
        return ""
    return TARGET


class Program:
    """The running program; started when it is first asked."""

    def __init__(self):
        self.words, self.process = command(), None

    def start(self):
        if self.words is None:
            raise Lost(NO_PROGRAM)
        if self.process is not None:
            return
        try:
            if not os.access(self.words[0], os.X_OK) and os.path.exists(self.words[0]):
                os.chmod(self.words[0], 0o755)  # pip leaves the bit out
            self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise Lost(f"joulecast-meter cannot be started: {error}") from None

    def say(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = b""
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise Lost("joulecast-meter ended in the middle" if not line else f"joulecast-meter said {line[:80]!r}")
        return answer

    def ask(self, message, workload=None):
        """The answer; calls that the program asks for on the way are made by `workload`."""
        self.start()
        answer = self.say(message)
        try:
            while "run" in answer:
                start = time.perf_counter()
                if answer["run"]:
                    workload.run(answer["run"])
                answer = self.say({"ran_s": time.perf_counter() - start})
        except Lost:
            raise
        except BaseException:
            self.close()  # it waits for calls that nobody makes
            raise
        if "error" in answer:
            raise Lost(f"joulecast-meter: {answer['error']}")
        return answer

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Meter:
    """What a worker asks. Never raises Lost: energy that is not there has a reason."""

    def __init__(self, device):
        self.program, self.device = Program(), device

    def missing_reason(self, settings):
        """Empty where the meter that the settings name is open."""
        if not settings["measure_energy"] or settings["meter"] == "none":
            return "not asked for"
        try:
            return self.program.ask({"ask": "open", "meter": settings["meter"]}).get("missing_reason", "")
        except Lost as lost:
            return str(lost)

    def prepare(self, workload, call_s, longest_soak_s):
        """The fields of `prepared`; raises Lost."""
        return self.program.ask({"ask": "prepare", "device": self.device, "call_s": call_s, "multiple": workload.multiple,
                                 "longest_soak_s": longest_soak_s}, workload)

    def begin(self):
        try:
            self.program.ask({"ask": "begin"})
        except Lost:
            pass  # end() has nothing to tell then

    def end(self):
        """The fields of `conditions`, and `clock_mhz`."""
        try:
            return self.program.ask({"ask": "end"})
        except Lost:
            return dict(UNKNOWN)

    def energy(self, workload, time_summary, load_on_s, settings):
        """(`energy` or None, the reason where there is none)."""
        reason = self.missing_reason(settings)
        if reason:
            return None, reason
        half_width = time_summary["half_width_s"]
        try:
            answer = self.program.ask({
                "ask": "energy", "multiple": workload.multiple, "call_s": time_summary["mean_s"], "load_on_s": load_on_s,
                "time_half_width_s": half_width if math.isfinite(half_width) else None, "window_s": settings["energy_window_s"],
                "seed": settings["seed"]}, workload)
        except Lost as lost:
            return None, str(lost)
        return (None, answer["missing_reason"]) if "missing_reason" in answer else (answer, "")


class NoMeter(Meter):
    """Of a device that this machine's meters know nothing of, for the `reason`."""

    def __init__(self, reason):
        self.reason = reason

    def missing_reason(self, settings):
        return self.reason if settings["measure_energy"] and settings["meter"] != "none" else "not asked for"

    def prepare(self, workload, call_s, longest_soak_s):
        raise Lost(self.reason)

    def begin(self):
        pass

    def end(self):
        return dict(UNKNOWN)
