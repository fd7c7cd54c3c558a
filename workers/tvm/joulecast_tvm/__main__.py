"""The worker for `joulecast profile --worker joulecast-tvm`."""
import argparse
import os
import re

from joulecast_measuring import serve

WORKER = "joulecast-tvm"
MISSING = 'Install it with: pip install "apache-tvm==0.27.*" "apache-tvm-ffi==0.1.14.*" onnx numpy'


def options():
    parser = argparse.ArgumentParser(prog=WORKER, description="Measures operations and networks as TVM compiles them for this CPU.")
    parser.add_argument("--trials", type=int, default=0, metavar="N",
                        help="tune with so many trials of MetaSchedule for each kernel first (0: as TVM's own passes make it)")
    board = parser.add_argument_group("a board that is reached by TVM's RPC (docs/tvm.md)")
    board.add_argument("--rpc", metavar="HOST:PORT", help="compile here and run on the server there: python3 -m tvm.exec.rpc_server")
    board.add_argument("--board", metavar="FILE.json", help="what the board is (docs/tvm.md has an example)")
    board.add_argument("--triple", default="", help="LLVM's name of what it runs, such as aarch64-linux-gnu (default: as here)")
    board.add_argument("--cpu", default="", help="LLVM's name of its processor, such as cortex-a73 (default: any of that kind)")
    board.add_argument("--compiler", default="", help="links for it, such as aarch64-linux-gnu-g++ (default: this machine's)")
    chosen = parser.parse_args()
    if chosen.trials < 0:
        parser.error("argument --trials: it cannot be below 0")
    if bool(chosen.rpc) != bool(chosen.board):
        parser.error("--rpc and --board go together: the address says nothing of what is measured there")
    if chosen.rpc and not re.fullmatch(r".+:\d{1,5}", chosen.rpc):
        parser.error(f"argument --rpc: {chosen.rpc} is no HOST:PORT")
    if not chosen.rpc and (chosen.triple or chosen.cpu or chosen.compiler):
        parser.error("--triple, --cpu and --compiler are of a board: name it by --rpc and --board")
    if chosen.rpc and chosen.trials:
        parser.error("--trials does not tune over --rpc: run joulecast-tvm on the board itself (--worker \"ssh BOARD joulecast-tvm --trials N\")")
    return chosen


def make_engine(chosen):
    os.environ.setdefault("TVM_NUM_THREADS", "1")
    from joulecast_tvm.engine import Tvm
    from joulecast_tvm.places import Board, device_of
    place = Board(chosen.rpc, chosen.triple, chosen.cpu, chosen.compiler, device_of(chosen.board)) if chosen.rpc else None
    return Tvm(chosen.trials, place)


def main():
    chosen = options()
    serve.main(WORKER, lambda: make_engine(chosen), MISSING)


if __name__ == "__main__":
    main()
