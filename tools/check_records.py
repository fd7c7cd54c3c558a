#!/usr/bin/env python3
"""Holds joulecast's records against torch: the schemas of all targets, and the outputs and FLOPs of the calls in
tests/graph/records.txt.

    check_records.py --records build/tests/graph/print_records     # schemas: parameters in order, and their defaults
    check_records.py --calls tests/graph/records.txt               # each line: call -> output types, as torch's meta tensors say,
                                                                   # then "| flop N" where torch.utils.flop_counter sees any;
                                                                   # "-> ?" where only the values tell how much comes out
    check_records.py --calls tests/graph/records.txt --write       # writes what torch says behind each call

Needs torch only; exits with 1 after naming all differences.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 registers quantized_decomposed
from torch.utils.flop_counter import FlopCounterMode

DTYPES = {"u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "f16": torch.float16,
          "f32": torch.float32, "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128, "bool": torch.bool,
          "bf16": torch.bfloat16, "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
WORDS = {"none": None, "true": True, "false": False, "inf": math.inf, "nan": math.nan}


class Reader:
    """Reads the text form of an operation (joulecast/graph/operation.h) into tensors on the meta device and plain values."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, token):
        while self.text[self.at:self.at + 1] == " ":
            self.at += 1
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def word(self, letters="_.+-:"):
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in letters):
            self.at += 1
        return self.text[start:self.at]

    def list(self, item):
        items = []
        while not self.take("]"):
            items.append(item())
            self.take(",")
        return items

    def value(self):
        if self.take("["):
            return self.list(self.value)
        if self.text[self.at] == '"':
            value, end = json.JSONDecoder().raw_decode(self.text[self.at:])
            self.at += end
            return value
        word = self.word()
        if word in DTYPES:
            return self.tensor(DTYPES[word]) if self.take("[") else DTYPES[word]
        if word in WORDS:
            return WORDS[word]
        return float(word) if any(mark in word for mark in ".en") else int(word)

    def tensor(self, dtype):
        sizes = self.list(lambda: int(self.word()))
        if self.take("{cl}"):
            tensor = torch.empty(sizes, dtype=dtype, device="meta")
            return tensor.contiguous(memory_format=torch.channels_last if len(sizes) == 4 else torch.channels_last_3d)
        if self.take("{"):
            strides = []
            while not self.take("}"):
                strides.append(int(self.word()))
                self.take(",")
            return torch.empty_strided(sizes, strides, dtype=dtype, device="meta")
        return torch.empty(sizes, dtype=dtype, device="meta")

    def call(self):
        target, arguments = self.word(), {}
        assert self.take("("), self.text
        while not self.take(")"):
            name = self.word()
            assert self.take("="), (self.text, self.at)
            arguments[name] = self.value()
            self.take(", ")
        return target, arguments


def overload(target):
    library, _, rest = target.partition("::")
    name, _, variant = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, library), name), variant or "default")


def strides_text(sizes, strides):
    """As TensorType has them: nothing for contiguous, dimensions of one element as a slowest one would have it."""
    meta = torch.empty_strided(sizes, strides, device="meta")
    if meta.is_contiguous():
        return ""
    images = {4: torch.channels_last, 5: torch.channels_last_3d}
    if len(sizes) in images and meta.is_contiguous(memory_format=images[len(sizes)]):
        return "{cl}"
    canonical, extent = list(strides), 1
    for i in reversed(range(len(sizes))):
        if sizes[i] == 1:
            canonical[i] = extent
        extent = max(extent, sizes[i] * canonical[i])
    return "{" + ",".join(map(str, canonical)) + "}"


def type_text(tensor):
    return f"{NAMES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]{strides_text(tensor.shape, tensor.stride())}"


# Meta tensors cannot tell how much these give out.
DATA_DEPENDENT = ("nonzero", "nonzero_numpy", "argwhere", "where", "masked_select", "_unique2", "unique_consecutive", "unique_dim", "bincount")


def depends_on_data(target, arguments):
    name = target.removeprefix("aten::").partition(".")[0]
    if name == "repeat_interleave" and "repeats" in arguments:
        return isinstance(arguments["repeats"], torch.Tensor) and arguments.get("output_size") is None
    if name == "index":
        return any(index is not None and index.dtype == torch.bool for index in arguments["indices"])
    return name in DATA_DEPENDENT and not (name == "where" and "self" in arguments)


def on_cpu(value):
    if isinstance(value, list):
        return [on_cpu(item) for item in value]
    return torch.ones(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def run(target, arguments):
    """The outputs, and the FLOPs that torch counts. What cannot run on meta tensors runs on ones."""
    with FlopCounterMode(display=False) as counter:
        try:
            outputs = overload(target)(**arguments)
        except RuntimeError as error:  # NotImplementedError among them
            if not any(word in str(error) for word in ("meta", "not allocated", "Meta")):
                raise
            outputs = overload(target)(**{name: on_cpu(value) for name, value in arguments.items() if name != "device"})
    return outputs, counter.get_total_flops()


def output_text(call):
    target, arguments = Reader(call).call()
    # Without values only the shapes can come out; factories have to be told where.
    if any(argument.name == "device" for argument in overload(target)._schema.arguments):
        arguments.setdefault("device", "meta")
    if "memory_format" in arguments:
        arguments["memory_format"] = getattr(torch, arguments["memory_format"])
    if depends_on_data(target, arguments):
        return "?"
    outputs, flops = run(target, arguments)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    if target.startswith("aten::_scaled_dot_product_") and not target.endswith("_backward"):
        outputs = outputs[:2]  # behind them seeds and lengths, whatever the sizes
    types = " ".join(type_text(output) for output in outputs if isinstance(output, torch.Tensor))
    return types + (f" | flop {flops}" if flops else "")


def check_calls(path, write):
    lines, wrong = [], 0
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            lines.append(line)
            continue
        call, _, said = line.rpartition(" ->") if " ->" in line else (line, "", "")
        try:
            found = output_text(call)
        except Exception as error:
            found = f"refused: {type(error).__name__}: {str(error).strip().splitlines()[0]}" if str(error) else "refused"
        lines.append(f"{call} -> {found}".rstrip())
        if not write and said.strip() != found:
            print(f"{call}\n  file:  {said}\n  torch: {found}")
            wrong += 1
    if write:
        path.write_text("\n".join(lines) + "\n")
    return wrong


def plain(value):
    """A default as both sides can write it."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (bool, int, str, type(None))) else float(value)


def check_schemas(program):
    wrong = 0
    for record in json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout):
        if not record["target"].startswith(("aten::", "quantized_decomposed::")):  # Python's own operators on sizes
            continue
        ours = [(p["name"], *([plain(p["default"])] if "default" in p else [])) for p in record["parameters"]]
        theirs = [(a.name, *([plain(a.default_value)] if a.has_default_value() else []))
                  for a in overload(record["target"])._schema.arguments]
        # torch numbers memory formats and dtypes: 0 is contiguous, 4 is int64.
        numbers = {("memory_format", "contiguous_format"): 0, ("dtype", "i64"): 4}
        ours = [(name, *[numbers.get((name, str(d)), d) for d in default]) for name, *default in ours]
        if ours != theirs:
            print(f"{record['target']}\n  joulecast: {ours}\n  torch:     {theirs}")
            wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", help="the program that prints all records as JSON")
    parser.add_argument("--calls", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    wrong = (check_schemas(options.records) if options.records else 0) + (check_calls(options.calls, options.write) if options.calls else 0)
    print(f"{wrong} differences from torch {torch.__version__}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
