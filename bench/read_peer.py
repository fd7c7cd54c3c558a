"""What Python needs to open the same model file: the peer of bench/read_speed.

usage: read_peer.py FILE [structure]   prints the same line of JSON; `structure` leaves external weights of ONNX unread

One file a process, since the peak is the process's; the time is that of the call alone, imports are done before.
"""

import json
import resource
import sys
import time


def opener(path, structure):
    if path.endswith(".pt2"):
        import torch

        return lambda: torch.export.load(path)
    import onnx

    return lambda: onnx.load(path, load_external_data=not structure)


def main(path, *words):
    load = opener(path, "structure" in words)
    imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = load()
    elapsed = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert model is not None
    print(json.dumps({"file": path, "first_ms": 1e3 * elapsed, "peak_mb": peak / 1024, "imports_mb": imported / 1024}))


if __name__ == "__main__":
    main(*sys.argv[1:])
