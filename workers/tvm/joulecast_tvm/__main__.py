"""The worker for `joulecast profile --worker joulecast-tvm`."""
import argparse
import os

from joulecast_measuring import serve

WORKER = "joulecast-tvm"
MISSING = 'Install it with: pip install "apache-tvm==0.27.*" "apache-tvm-ffi==0.1.14.*" onnx numpy'


def options():
    parser = argparse.ArgumentParser(prog=WORKER, description="Measures operations and networks as TVM compiles them for this CPU.")
    parser.add_argument("--trials", type=int, default=0, metavar="N",
                        help="tune with so many trials of MetaSchedule for each kernel first (0: as TVM's own passes make it)")
    chosen = parser.parse_args()
    if chosen.trials < 0:
        parser.error("argument --trials: it cannot be below 0")
    return chosen


def make_engine(trials):
    os.environ.setdefault("TVM_NUM_THREADS", "1")
    from joulecast_tvm.engine import Tvm
    return Tvm(trials)


def main():
    chosen = options()
    serve.main(WORKER, lambda: make_engine(chosen.trials), MISSING)


if __name__ == "__main__":
    main()
