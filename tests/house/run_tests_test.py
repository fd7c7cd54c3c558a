"""tools/run_tests.py on a program whose tests pass, fail, skip and die: UNRULY is its path."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).parents[2] / "tools" / "run_tests.py"
PROGRAM = os.environ["UNRULY"]


def run(tests, *more, lines=(), before=None):
    """(status, output) of the runner over a folder in which CTest finds these tests."""
    with tempfile.TemporaryDirectory() as folder:
        text = [f'add_test({name} "{PROGRAM}" "--gtest_filter={name}" "--gtest_also_run_disabled_tests")' for name in tests]
        (pathlib.Path(folder) / "CTestTestfile.cmake").write_text("\n".join([*text, *lines]) + "\n")
        done = subprocess.run([sys.executable, RUNNER, folder, *more], capture_output=True, text=True,
                              preexec_fn=before)
    return done.returncode, done.stdout + done.stderr


class RunTests(unittest.TestCase):
    def last_line(self, output):
        return output.strip().splitlines()[-1]

    def test_counts_what_passes_and_what_is_skipped_with_its_reason(self):
        status, output = run(["Quiet.Passes", "Quiet.Skips"])
        self.assertEqual(status, 0, output)
        self.assertEqual(self.last_line(output), "1 passed, 0 failed, 1 skipped")
        self.assertIn("there is no such device", output)

    def test_ctrl_c_reaches_tests_of_a_job_that_ignores_it(self):
        status, output = run(["Quiet.CanBeInterrupted"], before=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.assertEqual(status, 0, output)

    def test_a_failure_fails_and_is_shown_alone(self):
        status, output = run(["Unruly.Passes", "Unruly.Fails", "Quiet.Passes"])
        self.assertEqual(status, 1, output)
        self.assertEqual(self.last_line(output), "2 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED Unruly.Fails", output)
        self.assertIn("words of the failed one", output)
        self.assertNotIn("Unruly.Passes", output)

    def test_those_behind_a_dead_one_still_run(self):
        for together in ("200", "1"):
            status, output = run(["Unruly.Passes", "Unruly.Fails", "Unruly.Dies", "Unruly.ComesAfterTheDead"],
                                 "--together", together)
            self.assertEqual(status, 1, output)
            self.assertEqual(self.last_line(output), "2 passed, 2 failed, 0 skipped")
            self.assertIn("words of the dead one", output)
            self.assertIn("FAILED Unruly.Fails", output)

    def test_a_bad_end_after_tests_that_pass_is_a_failure(self):
        status, output = run(["Quiet.Passes", "Late.LeavesSomethingThatFailsAtTheEnd"])
        self.assertEqual(status, 1, output)
        self.assertEqual(self.last_line(output), "2 passed, 1 failed, 0 skipped")
        self.assertIn("status 23 after its tests", output)

    def test_a_name_that_the_program_does_not_know_fails(self):
        status, output = run(["Quiet.Passes", "Quiet.IsNoTest"])
        self.assertEqual(status, 1, output)
        self.assertEqual(self.last_line(output), "1 passed, 1 failed, 0 skipped")

    def test_other_commands_keep_their_properties(self):
        status, output = run([], lines=[
            'add_test(zero "/bin/sh" "-c" "exit 0")', 'add_test(one "/bin/sh" "-c" "exit 1")',
            'add_test(away "/bin/sh" "-c" "exit 77")', 'set_tests_properties(away PROPERTIES SKIP_RETURN_CODE 77)',
            'add_test(says "/bin/sh" "-c" "echo $WORD; echo more; exit 3")',
            'set_tests_properties(says PROPERTIES ENVIRONMENT "WORD=three" PASS_REGULAR_EXPRESSION "th[r]ee.more")'])
        self.assertEqual(status, 1, output)
        self.assertEqual(self.last_line(output), "2 passed, 1 failed, 1 skipped")
        self.assertIn("FAILED one", output)

    def test_one_that_does_not_end_is_stopped(self):
        status, output = run(["Quiet.Passes"], lines=[
            'add_test(endless "/bin/sleep" "1000")', 'set_tests_properties(endless PROPERTIES TIMEOUT 0.5)'])
        self.assertEqual(status, 1, output)
        self.assertIn("no end within 0.5 s", output)

    def test_those_that_took_longest_the_last_time_start_first(self):
        with tempfile.TemporaryDirectory() as folder:
            seconds, order = pathlib.Path(folder) / "deep/seconds.log", pathlib.Path(folder) / "order"
            scripts = [f'add_test({name} "/bin/sh" "-c" "echo {name} >> {order}; sleep {s}")' for name, s in (("short", 0), ("long", 0.3))]
            for expected in (["short", "long"], ["short", "long", "long", "short"]):
                status, output = run([], "--jobs", "1", "--log", seconds, lines=scripts)
                self.assertEqual(status, 0, output)
                self.assertEqual(order.read_text().split(), expected)
            seconds.write_bytes(b"\xff 1 s\n nonsense\n")
            status, output = run([], "--jobs", "1", "--log", seconds, lines=scripts)
            self.assertEqual(status, 0, output)

    def test_no_test_at_all_is_an_error(self):
        status, output = run(["Quiet.Passes"], "--", "-R", "NoSuchName")
        self.assertEqual(status, 2, output)
        self.assertIn("has no such test", output)

    def test_what_ctest_leaves_out_does_not_run(self):
        status, output = run(["Quiet.Passes", "Unruly.Fails"], "--jobs", "1", "--", "-E", "^Unruly")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.last_line(output), "1 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
