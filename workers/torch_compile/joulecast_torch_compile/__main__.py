"""The worker for `joulecast profile --worker joulecast-torch-compile`."""
import os

from joulecast_measuring import serve, this_cpu

WORKER = "joulecast-torch-compile"
MISSING = 'Install it with: pip install "torch>=2.11" numpy'


def make_engine():
    # Read when OpenMP's library is loaded: each of its threads stays on a processor of its own.
    os.environ.setdefault("GOMP_CPU_AFFINITY", " ".join(map(str, this_cpu.processors()[0])))
    from joulecast_torch_compile.engine import TorchCompile
    return TorchCompile()


def main():
    serve.main(WORKER, make_engine, MISSING)


if __name__ == "__main__":
    main()
