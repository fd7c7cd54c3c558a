"""What the tests of this folder share: where the packages are, and that they skip where one is not installed."""
import importlib.util
import os
import pathlib
import sys
import unittest

BIN = pathlib.Path(os.environ["JOULECAST_BUILD"]) / "bin"
WORKERS = pathlib.Path(__file__).resolve().parents[2] / "workers"
sys.path[:0] = [str(WORKERS / "measuring"), str(WORKERS / "onnxruntime")]
# Behind all others: of the environment with torch only torch is wanted.
if os.environ.get("JOULECAST_TORCH_PACKAGES"):
    sys.path.append(os.environ["JOULECAST_TORCH_PACKAGES"])


def need(*packages):
    """Skips the whole module with the reason."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise unittest.SkipTest(f"{sys.executable} has no {package}")


def torch_call(operation, tensors):
    """What torch returns for an operation on these tensors, as a list."""
    import torch
    from joulecast_measuring.signature import Dtype, TensorType
    dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "i64": torch.int64, "i32": torch.int32, "bool": torch.bool}
    rest = iter(tensors)

    def given(value):
        if isinstance(value, TensorType):
            return next(rest)
        if isinstance(value, Dtype):
            return dtypes[value]
        return [given(item) for item in value] if isinstance(value, list) else value
    namespace, _, name = operation.target.partition("::")
    name, _, overload = name.partition(".")
    arguments = {argument: given(value) for argument, value in operation.arguments.items()}
    if overload == "device":  # no part of a signature
        arguments["device"] = "cpu"
    made = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")(**arguments)
    return list(made) if isinstance(made, (list, tuple)) else [made]
