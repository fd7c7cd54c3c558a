#!/usr/bin/env python3
"""Writes tests/graph/oracles_autocast/<network>.json: the casts that torch.autocast makes in the zoo's networks, call by call.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_autocast_oracles.py             # the networks below
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_autocast_oracles.py gpt2

The exported program runs call by call with autocast switched on, on fake CPU and fake CUDA tensors, so that torch's own autocast kernels of
either device decide, and nothing is allocated. A TorchDispatchMode below autocast sees the aten::_to_copy calls that come with each call.
For each call with tensor outputs, in order: [its target, what was cast (type before > type after, shape), types that come out]. Parameters
require a gradient, as they do where a network runs as it was built; `eval` runs under no_grad, `train` with a graph recorded.

`eager` is the number of casts that the network itself makes where nothing was exported. It is the sum of the calls' casts but where Python
asks a tensor for its type, which an export in f32 answers once and for all (stochastic depth), and where torch.nn's fused encoder runs (vit on
a CPU); the tool says so.

registered.json has the names of all operations with an autocast kernel, and the casts of small functions of a parameter `weight` and an
input `x`, both f32[4,4].
"""
import collections
import json
import operator
import sys
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import make_byte_oracles
import make_oracles
import make_zoo
import zoo_networks

aten = torch.ops.aten
ATTENTION = aten.scaled_dot_product_attention.default
NETWORKS = ["resnet18", "mobilenet_v3_large", "densenet121", "googlenet", "shufflenet_v2_x1_0", "efficientnet_b0", "convnext_tiny", "vit_b_32",
            "swin_t", "swin_v2_t", "bert-base", "gpt2", "gpt2-decode", "llama-3.2-1b", "qwen2-1.5b", "t5-small", "whisper-tiny",
            "unet"]
SHORT = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "bool"}


def short(dtype):
    text = str(dtype).removeprefix("torch.")
    return SHORT.get(text, text)


def tensors_of(value):
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


class Casts(TorchDispatchMode):
    """Keeps every change of a floating type. Without a GPU's fused kernel, attention runs as matrix products that change types among
    themselves: of it counts only what turns an operand into the lower type."""

    def __init__(self, dtype):
        super().__init__()
        self.seen, self.dtype, self.operands = [], dtype, None

    def attend(self, attention, arguments, keywords):
        self.operands = tensors_of((arguments, keywords))
        try:
            return attention(*arguments, **keywords)
        finally:
            self.operands = None

    def counts(self, before, result):
        if before.dtype == result.dtype or not before.is_floating_point():
            return False
        return self.operands is None or (result.dtype == self.dtype and any(before is operand for operand in self.operands))

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        if function is aten._to_copy.default:
            before = arguments[0]
            if self.counts(before, result):
                self.seen.append(f"{short(before.dtype)}>{short(result.dtype)}[{','.join(map(str, before.shape))}]")
        return result


class autocast:
    """torch.autocast, which refuses CUDA where there is none; fake tensors need none."""

    def __init__(self, device, dtype):
        self.device, self.dtype = device, dtype

    def __enter__(self):
        self.before = torch.is_autocast_enabled(self.device), torch.get_autocast_dtype(self.device)
        torch.set_autocast_enabled(self.device, True)
        torch.set_autocast_dtype(self.device, self.dtype)
        torch.autocast_increment_nesting()

    def __exit__(self, *_):
        if torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()
        torch.set_autocast_enabled(self.device, self.before[0])
        torch.set_autocast_dtype(self.device, self.before[1])


class Runner(torch.fx.Interpreter):
    """Runs a graph on one device and notes, call by call, the casts."""

    def __init__(self, module, device, casts, calls):
        super().__init__(module)
        self.device, self.casts, self.calls = device, casts, calls

    def call_function(self, target, arguments, keywords):
        if isinstance(target, torch._ops.HigherOrderOperator):
            if str(target) not in ("wrap_with_set_grad_enabled", "wrap_with_autocast"):
                raise RuntimeError(f"no rule for {target}")
            at = next(place for place, argument in enumerate(arguments) if isinstance(argument, torch.fx.GraphModule))
            return Runner(arguments[at], self.device, self.casts, self.calls).run(*arguments[at + 1:])
        if target is aten._assert_tensor_metadata.default:
            return None  # says the types that came without autocast
        arguments, keywords = tree_map(lambda leaf: torch.device(self.device) if isinstance(leaf, torch.device) else leaf,
                                       (arguments, keywords))
        if isinstance(target, torch._ops.OpOverload) and any(entry.name == "device" for entry in target._schema.arguments) \
                and not tensors_of(arguments):
            keywords = {**keywords, "device": torch.device(self.device)}
        self.casts.seen.clear()
        if target is ATTENTION:
            result = self.casts.attend(target, arguments, keywords)
        else:
            result = super().call_function(target, arguments, keywords)
        if tensors_of(result) and target is not operator.getitem:
            counted = collections.Counter(self.casts.seen)
            self.calls.append([str(target), " ".join(f"{count}x{cast}" for cast, count in sorted(counted.items())),
                               " ".join(short(tensor.dtype) for tensor in tensors_of(result))])
        return result


def calls(name, program, setting, device, dtype, grad):
    found = []
    with FakeTensorMode(allow_non_fake_inputs=True), torch.set_grad_enabled(grad):
        inputs = list(make_byte_oracles.placeholders(name, program, setting, device))
        with autocast(device.split(":")[0], dtype), Casts(dtype) as casts:
            Runner(program.graph_module, device, casts, found).run(*inputs)
    return found


def eager_casts(name, setting, device, dtype, train):
    """Of the module itself, as it was built."""
    with FakeTensorMode(allow_non_fake_inputs=True), torch.set_grad_enabled(train):
        network, inputs = zoo_networks.build(name, setting, device, train)
        attention = torch.nn.functional.scaled_dot_product_attention
        with autocast(device.split(":")[0], dtype), Casts(dtype) as casts, mock.patch(
                "torch.nn.functional.scaled_dot_product_attention", lambda *given, **named: casts.attend(attention, given, named)):
            network(*inputs)
    return len(casts.seen)


def total(found):
    return sum(int(cast.split("x")[0]) for _, casts, _ in found for cast in casts.split())


def twice_linear(x, weight):
    return torch.nn.functional.linear(x, weight) + torch.nn.functional.linear(x, weight)


def linear_of_view(x, weight):
    return torch.mm(x, weight.t()) + torch.mm(x, weight.t())


def joined(x, weight):
    return torch.cat([torch.mm(x, weight), x])


def softmax_of_product(x, weight):
    return torch.softmax(torch.mm(x, weight), -1)


def norm_of_product(x, weight):
    return torch.norm(torch.mm(x, weight), 2, [1])


def products_added(x, weight):
    return torch.addcmul(x, torch.mm(x, weight), torch.mm(x, weight))


def double(x, weight):
    return torch.mm(x.double(), weight.double())


SMALL = (twice_linear, linear_of_view, joined, softmax_of_product, norm_of_product, products_added, double)


def small_casts(function, device, grad):
    """Casts, and the type that comes out."""
    with FakeTensorMode(), torch.set_grad_enabled(grad):
        x, weight = torch.zeros(4, 4, device=device), torch.zeros(4, 4, device=device).requires_grad_()
        with autocast(device.split(":")[0], torch.bfloat16), Casts(torch.bfloat16) as casts:
            result = function(x, weight)
    counted = collections.Counter(casts.seen)
    return " ".join(f"{count}x{cast}" for cast, count in sorted(counted.items())), short(result.dtype)


def write_registered():
    document = {"torch": torch.__version__}
    for device, key in (("cpu", "AutocastCPU"), ("cuda", "AutocastCUDA")):
        document[device] = sorted(name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")
                                  and torch._C._dispatch_has_kernel_for_dispatch_key(name, key))
        for function in SMALL:
            found = {small_casts(function, "cuda:0" if device == "cuda" else device, grad) for grad in (False, True)}
            assert len(found) == 1, (function, found)  # no_grad changes nothing: weights keep requires_grad
            document[f"{device} {function.__name__}"] = found.pop()
    path = make_zoo.REPOSITORY / "tests/graph/oracles_autocast/registered.json"
    path.write_text(json.dumps(document, indent=1) + "\n")


def write_oracle(name):
    lines, forms = {}, {}
    for form in make_zoo.FORMS:
        program = make_zoo.export(name, form)
        setting = make_oracles.settings(name, form)[0]
        forms[form] = {"setting": setting}
        for device in ("cpu", "cuda:0"):
            for dtype in (torch.bfloat16, torch.float16):
                found = calls(name, program, setting, device, dtype, form == "train")
                key = f"{device.split(':')[0]} {short(dtype)}"
                forms[form][key] = {"casts": total(found), "eager": eager_casts(name, setting, device, dtype, form == "train"),
                                    "calls": [lines.setdefault(json.dumps(call), len(lines)) for call in found]}
                if forms[form][key]["casts"] != forms[form][key]["eager"]:
                    print(f"{name} {form} {key}: {forms[form][key]['casts']} casts, without export {forms[form][key]['eager']}", flush=True)
    document = {"network": name, "torch": torch.__version__, "forms": forms, "lines": [json.loads(line) for line in lines]}
    path = make_zoo.REPOSITORY / "tests/graph/oracles_autocast" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, separators=(",", ":")).replace('"forms"', '\n"forms"').replace('"train":', '\n"train":')
                    .replace('"lines":[', '\n"lines":[\n').replace('],["', '],\n["') + "\n")
    assert json.loads(path.read_text()) == document


if __name__ == "__main__":
    for network_name in sys.argv[1:] or ["registered", *NETWORKS]:
        write_registered() if network_name == "registered" else write_oracle(network_name)
