"""A board over ssh: a real sshd on the loopback address, the wheel of `joulecast pack-worker`, its meter, and what goes wrong with boards.

The processor of another architecture is emulated by qemu. Each test says why it skips where a program is missing.
"""
import csv
import getpass
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support

support.need("numpy", "onnx", "onnxruntime")

JOULECAST = support.BIN / "joulecast"
SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
OPERATIONS = ["aten::relu(self=f32[64,64])", "aten::matmul(self=f32[128,128], other=f32[128,128])", "aten::tanh(self=f32[64,64])"]
WALL_METER = 'while :; do echo "watts 7.5"; sleep 0.05; done'


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **more)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def packed(folder, target):
    """The wheel for that processor; skips where this build has no joulecast-meter for it."""
    made = run(JOULECAST, "pack-worker", "--target", target, "-o", folder)
    if made.returncode != 0:
        raise unittest.SkipTest(made.stderr.strip())
    return pathlib.Path(made.stdout.strip())


class Board:
    """This machine as a board: its own sshd with keys of its own, and the worker as pip installs it there."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        for key in ("host_key", "user_key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key, check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n"
            "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\n")
        (folder / "ssh_config").write_text(
            f"Host board\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/user_key\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n  StrictHostKeyChecking accept-new\n  BatchMode yes\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # sshd of root asks for it
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:  # until it listens
            if "listening" in line.lower():
                break
        self.install(packed(folder, os.uname().machine), folder / "installed")

    def install(self, wheel, where):
        made = run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", where, wheel)
        if made.returncode != 0:
            raise AssertionError(made.stderr)

    def worker(self, installed="installed", prefix=""):
        """The words of --worker; the tests' packages come from the Python that runs them."""
        place = self.folder / installed
        return f"ssh -F {self.folder}/ssh_config board '{prefix} PYTHONPATH={place} {place}/bin/joulecast-onnxruntime'"

    def end(self):
        self.process.kill()
        self.process.communicate()


@unittest.skipUnless(SSHD and shutil.which("ssh-keygen"), "openssh-server is not installed: no board to reach by ssh")
class BoardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.board = Board(cls.folder)
        cls.addClassCleanup(cls.board.end)
        (cls.folder / "few.plan").write_text("".join(f"operation = {text}\n" for text in OPERATIONS))

    def profile(self, worker, *more):
        self.database = self.folder / f"{self.id().rpartition('.')[2]}.db"
        return run(JOULECAST, "profile", self.folder / "few.plan", "--db", self.database, "--threads", 1, "--no-hot", "--worker", worker, *more)

    def rows(self):
        if not self.database.exists():
            return []
        made = run(JOULECAST, "export", "--db", self.database, "-o", self.folder / "rows.csv")
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(self.folder / "rows.csv", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if row["kind"] == "operation"]

    def put(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_a_wall_meter_is_read_on_the_board(self):
        (self.folder / "wall").write_text("#!/bin/sh\n" + WALL_METER)
        (self.folder / "wall").chmod(0o755)
        ended = self.profile(self.board.worker(), "--meter", f"command:{self.folder}/wall", "--require-energy")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        rows = self.rows()
        self.assertEqual({row["operation"] for row in rows}, set(OPERATIONS))
        for row in rows:
            self.assertIn(row["outcome"], ("ok", "unstable"))
            self.assertEqual(row["energy_meter"], f"command:{self.folder}/wall"[:88])
            self.assertGreater(float(row["energy_j"]), 0.0)
            self.assertAlmostEqual(float(row["power_w"]), 7.5, places=6)

    def test_a_board_that_is_gone_is_named(self):
        (self.folder / "gone").write_text(f"Host board\n  HostName 127.0.0.1\n  Port {free_port()}\n  BatchMode yes\n")
        ended = self.profile(f"ssh -F {self.folder}/gone board joulecast-onnxruntime")
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, "cannot start the worker.*Connection refused")
        self.assertEqual(self.rows(), [])

    def test_a_line_that_is_cut_loses_nothing(self):
        seen = self.folder / "connections"
        cut = f"echo one >> {seen}; if [ $(wc -l < {seen}) = 1 ]; then timeout -s KILL 4 {self.board.worker()}; exit 255; fi; exec {self.board.worker()}"
        ended = self.profile(cut)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertGreaterEqual(len(seen.read_text().split()), 2, "the line was not cut")
        self.assertEqual({row["operation"] for row in self.rows()}, set(OPERATIONS))
        self.assertFalse([row for row in self.rows() if row["outcome"] == "crashed"])

    def test_a_full_disk_is_named_and_nothing_stored(self):
        full = self.folder / "full"
        full.mkdir()
        small = f"unshare --map-root-user --mount sh -c \"mount -t tmpfs -o size=512k none {full} &&"
        if run("sh", "-c", small + ' true"').returncode != 0:
            self.skipTest("no small file system can be mounted here")
        place = self.folder / "installed"
        worker = small + f' TMPDIR={full} PYTHONPATH={place} exec {place}/bin/joulecast-onnxruntime"'
        ended = self.profile(worker)
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, rf"the disk of \S+ is full: {full} has 0\.5 MB left")
        self.assertEqual(self.rows(), [])

    def test_heat_is_named_and_measured_again(self):
        root = self.folder / "hot"
        self.put(root / "sys/class/thermal/cooling_device0/type", "thermal-cpufreq-0\n")
        self.put(root / "sys/class/thermal/cooling_device0/cur_state", "2\n")
        meter = self.folder / "installed/joulecast_measuring/joulecast-meter"
        ended = self.profile(self.board.worker(prefix=f'JOULECAST_METER="{meter} --root {root}"'))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("heat throttles ", ended.stderr)
        self.assertEqual({row["limited_by"] for row in self.rows()}, {"thermal"})

    def test_a_worker_of_another_release_is_named(self):
        other = self.folder / "other"
        shutil.copytree(self.folder / "installed", other)
        serve = other / "joulecast_measuring/serve.py"
        serve.write_text(re.sub(r'VERSION = "[\d.]+"', 'VERSION = "0.0.9"', serve.read_text()))
        ended = self.profile(self.board.worker("other"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stderr, r"the worker is joulecast-onnxruntime 0\.0\.9, this is joulecast .*pack-worker")

    def test_a_worker_of_another_processor_says_so(self):
        other = "aarch64" if os.uname().machine != "aarch64" else "x86_64"
        wheel = packed(self.folder, other)
        made = run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", self.folder / "no", wheel)
        self.assertIn("is not a supported wheel on this platform", made.stderr)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder / "unpacked")
        place = self.folder / "unpacked"
        ended = self.profile(f"PYTHONPATH={place} {sys.executable} -m joulecast_onnxruntime")
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, rf"was packed for {other}, and this machine \(\S+\) is {os.uname().machine}")

    def test_a_meter_of_another_processor_under_qemu(self):
        qemu = shutil.which("qemu-aarch64-static")
        if qemu is None or os.uname().machine == "aarch64":
            self.skipTest("qemu-user-static is not installed")
        with zipfile.ZipFile(packed(self.folder, "aarch64")) as archive:
            archive.extractall(self.folder / "arm")
        meter, root = self.folder / "arm/joulecast_measuring/joulecast-meter", self.folder / "orin"
        meter.chmod(0o755)
        # A Jetson Orin's power monitor: 5 V and 1.6 A.
        for file, text in (("name", "ina3221"), ("in1_label", "VDD_IN"), ("in1_input", "5000"), ("curr1_input", "1600")):
            self.put(root / "sys/class/hwmon/hwmon0" / file, text + "\n")
        ended = self.profile(self.board.worker(prefix=f'JOULECAST_METER="{qemu} {meter} --root {root}"'), "--require-energy")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for row in self.rows():
            self.assertEqual(row["energy_meter"], "hwmon:ina3221:VDD_IN")
            self.assertAlmostEqual(float(row["power_w"]), 8.0, places=6)


class Packing(unittest.TestCase):
    def test_the_same_release_packs_the_same_bytes_and_pip_reads_them(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            one, two = packed(first, "aarch64"), packed(second, "aarch64")
            self.assertEqual(one.read_bytes(), two.read_bytes())
            with zipfile.ZipFile(one) as archive:
                self.assertIsNone(archive.testzip())
                names = archive.namelist()
                self.assertNotIn("torch", " ".join(names))
                texts = [archive.read(name).decode() for name in names if name.endswith(".py")]
            self.assertFalse([text for text in texts if re.search(r"^\s*(import|from) torch\b", text, re.MULTILINE)])

    def test_a_wheel_keeps_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            packed(folder, "aarch64")
            made = run(JOULECAST, "pack-worker", "--target", "aarch64", "-o", pathlib.Path(folder) / "mine.whl")
            self.assertEqual(made.returncode, 2)
            self.assertIn("joulecast_onnxruntime-", made.stderr)


if __name__ == "__main__":
    unittest.main()
