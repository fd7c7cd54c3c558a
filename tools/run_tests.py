#!/usr/bin/env python3
"""Runs what CTest knows, the tests of a program together.

CTest starts a process for each test. 4,200 of them take 0.15 s each to begin under the sanitizers, and each reads anew
what the tests of its file share. Here as many run as there are jobs, each up to --together tests of one program:

    tools/run_tests.py build/asan --jobs 2 --log build/logs/tests.log -- -L '^unit$' -E '^House\\.'

What stands behind -- goes to `ctest --show-only`. A test that takes its process down is a failure; those that had not
run yet run in another. What a test leaves behind in its process, another test may meet: what passes here and not under
CTest, or the other way round, is a fault of the tests.

--log FILE keeps the seconds of each test; where it is there from an earlier run, those that took longest start first, so
that none is waited for at the end.

The last line of the output is `N passed, M failed, K skipped`. Status 1: a test failed. 2: there is none, or CTest
could not say which there are.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 1500  # of one process, where the test says no other; CTest's own
UNKNOWN_SCRIPT_S = 30.0
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

Outcome = collections.namedtuple("Outcome", "name result seconds output")


class Test:
    """One test as `ctest --show-only=json-v1` describes it."""

    def __init__(self, entry):
        self.name = entry["name"]
        self.command = entry.get("command", [])
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.folder = properties.get("WORKING_DIRECTORY", ".")
        self.environment = properties.get("ENVIRONMENT", [])
        self.skip_code = properties.get("SKIP_RETURN_CODE")
        self.timeout_s = float(properties.get("TIMEOUT", TIMEOUT_S))
        self.must_say = properties.get("PASS_REGULAR_EXPRESSION", [])
        filters = [a for a in self.command if a.startswith("--gtest_filter=")]
        # gtest_discover_tests gives every test its name; what add_test() asks of a program may be a pattern.
        one = len(filters) == 1 and not re.search("[*?:]", filters[0]) and not self.environment
        self.case = filters[0].split("=", 1)[1] if one else None

    def suite(self):
        return self.case.split(".")[0]

    def program(self):
        return tuple(a for a in self.command if not a.startswith("--gtest_filter=")), self.folder


def tests_of(folder, asked):
    listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", *asked], capture_output=True, text=True)
    if listed.returncode != 0:
        sys.exit(f"run_tests.py: ctest cannot list the tests of {folder}: {listed.stderr.strip()}")
    return [Test(entry) for entry in json.loads(listed.stdout)["tests"]]


def groups_of(tests, together):
    """Lists of tests that run in one process: a suite stays whole where it can."""
    programs = collections.defaultdict(lambda: collections.defaultdict(list))
    groups = []
    for test in tests:
        if test.case is None:
            groups.append([test])
        else:
            programs[test.program()][test.suite()].append(test)
    for suites in programs.values():
        group = []
        for suite in suites.values():
            for start in range(0, len(suite), together):
                part = suite[start : start + together]
                if group and len(group) + len(part) > together:
                    groups.append(group)
                    group = []
                group = group + part
        groups.append(group)
    return groups


def seconds_of(log):
    """{test: seconds} of an earlier run's log."""
    try:
        lines = re.findall(r"^ *([0-9.]+) s  [a-z]+  (.*)$", log.read_text(errors="replace"), re.MULTILINE)
    except OSError:
        return {}
    return {name: float(seconds) for seconds, name in lines}


def longest_first(groups, known):
    """Of a test that no earlier run knows, what stands alone is the longest: a script, not a case among many."""
    unknown = lambda test: UNKNOWN_SCRIPT_S if test.case is None else 0.0
    return sorted(groups, key=lambda group: -sum(known.get(test.name, unknown(test)) for test in group))


def run_process(command, folder, environment=(), timeout_s=TIMEOUT_S):
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, **dict(e.split("=", 1) for e in environment)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout_s)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        status, output = f"no end within {timeout_s:g} s", error.stdout or b""
    except OSError as error:
        status, output = str(error), b""
    return status, output.decode(errors="replace"), time.monotonic() - start


def run_alone(test):
    status, output, seconds = run_process(test.command, test.folder, test.environment, test.timeout_s)
    if test.skip_code is not None and status == test.skip_code:
        return [Outcome(test.name, SKIPPED, seconds, output)]
    if test.must_say:
        passed = any(re.search(pattern, output, re.DOTALL) for pattern in test.must_say)
    else:
        passed = status == 0
    if not passed:
        output += f"\n(status: {status})"
    return [Outcome(test.name, PASSED if passed else FAILED, seconds, output)]


def reported(path):
    """{case: (result, seconds)} of a report that GoogleTest wrote; empty where the process did not come so far."""
    try:
        report = json.loads(path.read_text(errors="replace"))
    except (OSError, ValueError):
        return {}
    results = {}
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            result = FAILED if case.get("failures") else SKIPPED if case.get("result") == "SKIPPED" else PASSED
            results[f"{case['classname']}.{case['name']}"] = result, float(case["time"].rstrip("s"))
    return results


def said(output, case):
    """What the process wrote while `case` ran."""
    start = output.find(f"[ RUN      ] {case}\n")
    if start < 0:
        return output[-4000:]
    end = output.find("[ RUN      ]", start + 1)
    return output[start : end if end > 0 else len(output)]


def reason(output):
    """Why a test was skipped, on a line: what follows GoogleTest's "file:12: Skipped", or all that a script says."""
    words = " ".join(line for line in output.splitlines() if line and not line.startswith(("[", "Note:")))
    return re.sub(r"^\S+: Skipped *", "", words)[:200]


def run_together(group):
    outcomes = []
    waiting = list(group)
    while waiting:
        with tempfile.TemporaryDirectory() as scratch:
            report = pathlib.Path(scratch) / "report.json"
            (command, folder) = waiting[0].program()
            cases = ":".join(test.case for test in waiting)
            status, output, seconds = run_process([*command, f"--gtest_filter={cases}", f"--gtest_output=json:{report}"], folder)
            results = reported(report)
        if not results:  # the process died
            begun = re.findall(r"\[ RUN      \] (\S+)", output)
            ended = set(re.findall(r"\[       OK \] (\S+) \(", output))
            died_in = begun[-1] if begun else waiting[0].case
            results = {case: (PASSED, 0.0) for case in begun if case in ended}
            results.update({case: (FAILED, 0.0) for case in begun if case not in ended and case != died_in})
            results[died_in] = FAILED, seconds
            output += f"\n(the process ended with status {status})"
        elif status != 0 and not any(result == FAILED for result, _ in results.values()):
            # All pass, and yet: a leak.
            outcomes.append(Outcome(f"{command[0]}: status {status} after its tests", FAILED, seconds, output))
        left = []
        for test in waiting:
            if test.case in results:
                result, seconds = results[test.case]
                outcomes.append(Outcome(test.name, result, seconds, said(output, test.case)))
            else:
                left.append(test)
        if len(left) == len(waiting):
            outcomes += [Outcome(test.name, FAILED, 0.0, "the program knows no such test\n" + output[-2000:]) for test in left]
            left = []
        waiting = left
    return outcomes


def run_group(group):
    return run_alone(group[0]) if group[0].case is None else run_together(group)


def main():
    parser = argparse.ArgumentParser(description="runs the tests that CTest lists, those of a program together")
    parser.add_argument("folder", help="where the tests were built")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--together", type=int, default=200, help="most tests of a process; 1: each by itself")
    parser.add_argument("--log", type=pathlib.Path, help="every test with its seconds, the slowest first")
    parser.usage = "%(prog)s FOLDER [--jobs N] [--together N] [--log FILE] [-- arguments of ctest that choose tests]"
    ours, chosen = sys.argv[1:], []
    if "--" in ours:
        place = ours.index("--")
        ours, chosen = ours[:place], ours[place + 1 :]
    asked = parser.parse_args(ours)
    # A script's background job ignores Ctrl-C, and so would all that it starts. Tests send it and wait for the end.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    tests = tests_of(asked.folder, chosen)
    if not tests:
        print(f"run_tests.py: {asked.folder} has no such test", file=sys.stderr)
        return 2
    groups = longest_first(groups_of(tests, asked.together), seconds_of(asked.log) if asked.log else {})
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(run_group, group) for group in groups]):
            outcomes += done.result()
            for outcome in done.result():
                if outcome.result == FAILED:
                    print(f"FAILED {outcome.name}\n{outcome.output.strip()}\n", flush=True)
    if asked.log:
        asked.log.parent.mkdir(parents=True, exist_ok=True)
        ordered = sorted(outcomes, key=lambda outcome: -outcome.seconds)
        asked.log.write_text("".join(f"{o.seconds:9.2f} s  {o.result}  {o.name}\n" for o in ordered))
    for outcome in outcomes:
        if outcome.result == SKIPPED:
            print(f"skipped {outcome.name}: {reason(outcome.output)}")
    counts = collections.Counter(outcome.result for outcome in outcomes)
    print(f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped")
    return 1 if counts[FAILED] else 0


if __name__ == "__main__":
    sys.exit(main())
