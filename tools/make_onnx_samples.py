#!/usr/bin/env python3
"""Writes tests/graph/data/onnx/<network>_<exporter>.onnx: networks as people's tools write them, without weights, and what PyTorch and
onnxruntime say of them (oracle.json).

    python tools/make_onnx_samples.py                       # everything
    python tools/make_onnx_samples.py resnet18_ts17         # one sample; its part of oracle.json is replaced

Needs the zoo's packages (see make_zoo.py) and onnx 1.23, onnxscript 0.7, onnxruntime 1.31. Exporters: ts<opset> is TorchScript's
(dynamo=False), dy<opset> the one that torch.export feeds. qdq<opset> and qop<opset> are TorchScript's, quantized by onnxruntime with
QuantizeLinear and DequantizeLinear around every operator or with operators on integers; dq<opset> quantizes activations as it runs.
tf<opset> is written here with onnx.helper as tf2onnx writes: NHWC at the borders, bias apart from MatMul, names with slashes and colons.
Every float tensor of more than 16 elements becomes external data in a file that is not there.

oracle.json, by sample:
- flops: torch.utils.flop_counter over the eager network, as in make_oracles.py, with attention as two products (math), for two settings
  of the symbols. Backward: all parameters require a gradient, inputs none; absent for quantized networks, which do not train.
- stored: elements of float tensors in the file. parameters: those of the torch network; absent for
  quantized networks, whose weights are integer constants.
- shapes: what onnxruntime computed for every value at two settings of the symbols, graph optimisations off.
"""
import io
import json
import sys
import tempfile
import warnings

import numpy
import onnx
import onnxruntime
import torch
import torchvision
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import flop_counter

import make_oracles
import make_zoo

FOLDER = make_zoo.REPOSITORY / "tests/graph/data/onnx"
KEPT_REALS, KEPT_INTEGERS = 16, 4096


class UNet(torch.nn.Module):
    """Two levels: one up by a transposed convolution, one by interpolation to the other branch's size."""

    def __init__(self):
        super().__init__()
        self.enter = self.block(3, 8)
        self.down = self.block(8, 16)
        self.deep = self.block(16, 32)
        self.up = torch.nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.join = self.block(32, 16)
        self.leave = self.block(24, 8)
        self.head = torch.nn.Conv2d(8, 2, 1)

    @staticmethod
    def block(inputs, outputs):
        return torch.nn.Sequential(torch.nn.Conv2d(inputs, outputs, 3, padding=1), torch.nn.GroupNorm(4, outputs), torch.nn.SiLU(),
                                   torch.nn.Conv2d(outputs, outputs, 3, padding=1), torch.nn.InstanceNorm2d(outputs), torch.nn.LeakyReLU(0.1))

    def forward(self, image):
        first = self.enter(image)
        second = self.down(torch.nn.functional.max_pool2d(first, 2))
        third = self.deep(torch.nn.functional.avg_pool2d(second, 2))
        second = self.join(torch.cat([self.up(third), second], 1))
        wide = torch.nn.functional.interpolate(second, size=first.shape[2:], mode="bilinear", align_corners=False)
        return self.head(self.leave(torch.cat([wide, first], 1)))


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 24)
        self.lstm = torch.nn.LSTM(24, 16, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = torch.nn.GRU(32, 20, batch_first=True)
        self.head = torch.nn.Linear(20, 5)

    def forward(self, tokens):
        states, _ = self.lstm(self.embed(tokens))
        states, last = self.gru(states)
        return self.head(states), last


class Encoder(torch.nn.Module):
    """Sequence and batch of any size; masks and positions made from sizes."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(60, 32)
        self.place = torch.nn.Embedding(64, 32)
        self.norm = torch.nn.LayerNorm(32)
        self.qkv = torch.nn.Linear(32, 96)
        self.out = torch.nn.Linear(32, 32)
        self.wide, self.narrow = torch.nn.Linear(32, 128), torch.nn.Linear(128, 32)

    def forward(self, tokens):
        batch, sequence = tokens.shape
        x = self.embed(tokens) + self.place(torch.arange(sequence))
        q, k, v = (part.view(batch, sequence, 4, 8).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / 8**0.5
        mask = torch.ones(sequence, sequence, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, sequence, 32))
        x = x + self.narrow(torch.nn.functional.gelu(self.wide(x)))
        return torch.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1].mean(1), torch.einsum("bsc,btc->bst", x, x)


class Activations(torch.nn.Module):
    """One of each, so that every opset's spelling of them is read."""

    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(12, 12)
        self.prelu = torch.nn.PReLU(12)

    def forward(self, x):
        f = torch.nn.functional
        y = self.mix(x)
        for function in (torch.relu, f.silu, f.gelu, f.mish, f.hardswish, f.hardsigmoid, f.elu, f.selu, f.celu, f.softplus, f.softsign,
                         torch.erf, torch.tanh, torch.sin, torch.cos, f.relu6, f.logsigmoid, f.hardtanh, f.tanhshrink):
            y = y + function(x)
        y = f.leaky_relu(self.prelu(y), 0.2).clamp(-3, 3) + f.softmax(y, 0) + f.log_softmax(y, 1)
        y = torch.where(y > 0.5, y, -y) + y.cumsum(1) + y.sum(1, keepdim=True) + y.amax(0) + y.norm(dim=1, keepdim=True)
        largest, places = y.topk(3, 1)
        return y.flip(1) + y.roll(2, 1), largest, places, y.argmax(1), torch.gather(y, 1, places), y.std(1), y.var(0), y.tril(), y @ y.t()


class Mobile(torch.nn.Module):
    """Inverted residuals, as MobileNetV2 has them."""

    def __init__(self):
        super().__init__()
        self.enter = self.block(3, 8, 3, stride=2)
        self.first = torch.nn.Sequential(self.block(8, 24, 1), self.block(24, 24, 3, groups=24), torch.nn.Conv2d(24, 8, 1))
        self.second = torch.nn.Sequential(self.block(8, 32, 1), self.block(32, 32, 3, stride=2, groups=32), torch.nn.Conv2d(32, 16, 1))
        self.last = self.block(16, 40, 1)
        self.head = torch.nn.Linear(40, 10)
        for module in self.modules():  # equal biases would be exported as one, which the quantizer does not take
            if isinstance(module, torch.nn.BatchNorm2d):
                torch.nn.init.normal_(module.bias)

    @staticmethod
    def block(inputs, outputs, kernel, stride=1, groups=1):
        return torch.nn.Sequential(torch.nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                                   torch.nn.BatchNorm2d(outputs), torch.nn.ReLU6())

    def forward(self, image):
        x = self.enter(image)
        x = self.last(self.second(x + self.first(x)))
        return self.head(torch.nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Channels(torch.nn.Module):
    """What tensorflow() writes, in torch: padding below and to the right, as TensorFlow's SAME has it."""

    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Conv2d(3, 8, 3, stride=2)
        self.depth = torch.nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, image):
        x = torch.nn.functional.pad(image.permute(0, 3, 1, 2), (0, 1, 0, 1))
        x = torch.relu(self.depth(torch.clamp(self.enter(x), 0, 6)))
        return torch.softmax(self.head(x.mean((2, 3))), -1)


def tensorflow(opset):
    """Channels as tf2onnx writes it."""
    draw = numpy.random.default_rng(0)

    def weight(name, *sizes):
        return numpy_helper.from_array(draw.standard_normal(sizes).astype(numpy.float32), name)

    def integers(name, values):
        return numpy_helper.from_array(numpy.array(values, numpy.int64), name)
    top = "StatefulPartitionedCall/functional/"
    weights = [weight(top + "conv1/Conv2D/ReadVariableOp:0", 8, 3, 3, 3), weight(top + "conv1/BiasAdd/ReadVariableOp:0", 8),
               weight(top + "dw/depthwise/ReadVariableOp:0", 8, 1, 3, 3), weight(top + "dw/BiasAdd/ReadVariableOp:0", 8),
               weight(top + "dense/MatMul/ReadVariableOp:0", 8, 10), weight(top + "dense/BiasAdd/ReadVariableOp:0", 10),
               integers("const_fold_opt__31", [0, 0, 0, 0, 0, 0, 1, 1]), numpy_helper.from_array(numpy.float32(0), "zero__7"),
               numpy_helper.from_array(numpy.float32(6), "six__8")]
    names = [tensor.name for tensor in weights]
    conv1, conv1_bias, depth, depth_bias, dense, dense_bias, pads, zero, six = names
    steps = [("Transpose", "conv1_pad/Pad__9", ["image:0"], {"perm": [0, 3, 1, 2]}), ("Pad", "conv1_pad/Pad", [None, pads], {}),
             ("Conv", "conv1/Conv2D", [None, conv1, conv1_bias], {"kernel_shape": [3, 3], "strides": [2, 2], "dilations": [1, 1], "group": 1}),
             ("Clip", "relu6/Relu6", [None, zero, six], {}),
             ("Conv", "dw/depthwise", [None, depth, depth_bias], {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "group": 8}),
             ("Relu", "dw/Relu", [None], {}), ("Transpose", "dw/Relu__20", [None], {"perm": [0, 2, 3, 1]}),
             ("ReduceMean", "pool/Mean", [None], {"axes": [1, 2], "keepdims": 0}), ("MatMul", "dense/MatMul", [None, dense], {}),
             ("Add", "dense/BiasAdd", [None, dense_bias], {}), ("Softmax", "dense/Softmax", [None], {"axis": 1})]
    nodes, last = [], ""
    for kind, name, inputs, attributes in steps:
        nodes.append(helper.make_node(kind, [last if value is None else value for value in inputs], [top + name + ":0"], top + name, **attributes))
        last = top + name + ":0"
    graph = helper.make_graph(nodes, "tf2onnx", [helper.make_tensor_value_info("image:0", TensorProto.FLOAT, ["batch", 32, 32, 3])],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["batch", 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="tf2onnx")


class Readings(quantization.CalibrationDataReader):
    """Two images of noise."""

    def __init__(self, name, size):
        draw = numpy.random.default_rng(0)
        self.images = iter([{name: draw.standard_normal(size).astype(numpy.float32)} for _ in range(2)])

    def get_next(self):
        return next(self.images, None)


def quantized(model, kind, size):
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/float.onnx", f"{folder}/quantized.onnx"
        onnx.save(model, source)
        if kind == "dq":
            quantization.quantize_dynamic(source, target)
        else:
            form = quantization.QuantFormat.QDQ if kind == "qdq" else quantization.QuantFormat.QOperator
            quantization.quantize_static(source, target, Readings(model.graph.input[0].name, size), quant_format=form, per_channel=kind == "qdq")
        return onnx.load(target)


def small(name):
    """Networks written here: (network, inputs with `batch` and `sequence`, dimensions by input name)."""
    def tokens(batch, sequence):
        return (torch.zeros(batch, sequence, dtype=torch.int64),)
    if name == "unet":
        return UNet(), lambda batch, size: (torch.randn(batch, 3, size, size),), {"image": {0: "batch", 2: "height", 3: "width"}}
    if name == "recurrent":
        return Recurrent(), tokens, {"tokens": {0: "batch", 1: "sequence"}}
    if name == "encoder":
        return Encoder(), tokens, {"tokens": {0: "batch", 1: "sequence"}}
    if name == "activations":
        return Activations(), lambda batch, sequence: (torch.randn(batch, 12),), {"x": {0: "batch"}}
    if name == "mobile":
        return Mobile(), lambda batch, size: (torch.randn(batch, 3, 32, 32),), {"image": {0: "batch"}}
    if name == "channels":
        return Channels(), lambda batch, size: (torch.randn(batch, 32, 32, 3),), {"image": {0: "batch"}}
    raise KeyError(name)


SMALL = ("mobile", "channels", "unet", "recurrent", "encoder", "activations")
SETTINGS = {"unet": ((2, 32), (3, 48)), "recurrent": ((2, 6), (3, 9)), "encoder": ((2, 6), (3, 11)), "activations": ((4, 0), (7, 0))}
QUANTIZED = ("qdq", "qop", "dq")
SYMBOLS = {"unet": ("batch", "height", "width"), "recurrent": ("batch", "sequence"), "encoder": ("batch", "sequence"), "activations": ("batch",)}


def network_of(name, batch, other, device="cpu"):
    """Network, inputs, names of inputs with their dynamic dimensions."""
    if name in SMALL:
        network, inputs, dimensions = small(name)
        return network.eval(), inputs(batch, other), dimensions
    if name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large"):
        network = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=21, aux_loss=False)

        class Only(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = network

            def forward(self, image):
                return self.inner(image)["out"]
        return Only().eval(), (torch.randn(batch, 3, 128, 128),), {"image": {0: "batch"}}
    if name in make_zoo.NETWORKS:
        network, inputs = make_zoo.build(name, batch, device)
    else:
        network, inputs = torchvision.models.get_model(name, weights=None).eval(), (torch.randn(batch, 3, 224, 224),)
    return network, inputs, {"tokens" if inputs[0].dtype == torch.int64 else "image": {0: "batch"}}


def settings(name):
    """(batch, other) twice, and the same as values of symbols."""
    for batch, other in SETTINGS.get(name, ((2, 0), (5, 0))):
        symbols = SYMBOLS.get(name, ("batch",))
        yield batch, other, {symbol: batch if symbol == "batch" else other for symbol in symbols}


def counted(name):
    lines = []
    for batch, other, symbols in settings(name):
        totals = []
        for backward in (False, True):
            with FakeTensorMode(allow_non_fake_inputs=True), torch.device("meta"):
                network, inputs, _ = network_of(name, batch, other, "meta")
                counter = flop_counter.FlopCounterMode(display=False, custom_mapping=make_oracles.TRUE_GROUPS)
                with counter:
                    outputs = network(*inputs)
                    if backward:
                        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
                        sum(output.sum() for output in outputs if output.requires_grad).backward()
            totals.append(counter.get_total_flops())
        lines.append({"set": symbols, "forward": totals[0], "forward_backward": totals[1]})
    return lines


def exported(name, kind, opset):
    if kind == "tf":
        return tensorflow(opset), sum(parameter.numel() for parameter in Channels().parameters())
    if kind in QUANTIZED:
        model, parameters = exported(name, "ts", opset)
        return quantized(model, kind, (2, 3, 32, 32)), parameters
    (batch, other, _), *_ = settings(name)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network, inputs, dimensions = network_of(name, batch, other)
    buffer = io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if kind == "ts":
            torch.onnx.export(network, inputs, buffer, dynamo=False, opset_version=opset, input_names=list(dimensions), dynamic_axes=dimensions)
        else:
            shapes = tuple({axis: torch.export.Dim.DYNAMIC if symbol != "batch" else torch.export.Dim("batch", min=1, max=4096)
                            for axis, symbol in axes.items()} for axes in dimensions.values())
            program = torch.onnx.export(network, inputs, dynamo=True, opset_version=opset, input_names=list(dimensions),
                                        dynamic_shapes=shapes, verbose=False)
            program.save(buffer)
    model = onnx.load_model_from_string(buffer.getvalue())
    for field in model.graph.input:  # what dynamo calls s27 is what the user said
        for axis, symbol in dimensions.get(field.name, {}).items():
            rename(model, field.type.tensor_type.shape.dim[axis].dim_param, symbol)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    return model, parameters


def rename(model, old, new):
    if not old or old == new:
        return
    for field in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        for dimension in field.type.tensor_type.shape.dim:
            if dimension.dim_param == old:
                dimension.dim_param = new


def tensors(graph):
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            for inner in ([attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs):
                yield from tensors(inner)


def is_real(tensor):
    return tensor.data_type in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def strip(model):
    """Weights become external data in a file that is not there; paths of this machine go."""
    for tensor in tensors(model.graph):
        count = int(numpy.prod(tensor.dims, dtype=numpy.int64))
        if count <= (KEPT_REALS if is_real(tensor) else 64):
            continue
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
            tensor.ClearField(field)
        tensor.data_location = TensorProto.EXTERNAL
        del tensor.external_data[:]
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "weights.bin"
    for node in [*model.graph.node, *(node for function in model.functions for node in function.node)]:
        kept = [entry for entry in node.metadata_props if entry.key in ("pkg.torch.onnx.name_scopes",)]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.doc_string = ""
    del model.metadata_props[:]
    del model.graph.metadata_props[:]


def onnxruntime_shapes(model, sets):
    """By value: sizes at each setting. Inputs are zeros, or ones for integers of bounded meaning."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    declared = {output.name for output in whole.graph.output}
    for node in whole.graph.node:
        for name in node.output:
            if name and name not in declared:
                whole.graph.output.append(onnx.ValueInfoProto(name=name))
                declared.add(name)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(bool)": bool, "tensor(int32)": numpy.int32,
             "tensor(uint8)": numpy.uint8, "tensor(float16)": numpy.float16}
    shapes = {}
    for symbols in sets:
        feed = {field.name: numpy.ones([symbols.get(size, size) for size in field.shape], types[field.type]) for field in session.get_inputs()}
        for field, value in zip(session.get_outputs(), session.run(None, feed)):
            if isinstance(value, numpy.ndarray):
                shapes.setdefault(field.name, []).append(list(value.shape))
    return shapes


# Which exports are kept: all opsets of the small networks, a few of the large ones.
SAMPLES = {
    "mobile": ("qdq13", "qop13"), "channels": ("tf13",),
    "activations": ("ts17", "ts20", "dy18"), "encoder": ("ts14", "ts17", "ts20", "dy18", "dy20", "dq17"),
    "recurrent": ("ts11", "ts14"), "unet": ("ts11", "ts18", "dy18", "dy20"),
    "resnet18": ("ts17", "dy18"), "mobilenet_v2": ("ts13",), "densenet121": ("ts11",), "shufflenet_v2_x1_0": ("ts17",),
    "convnext_tiny": ("dy20",), "swin_t": ("ts16", "dy20"), "vit_b_16": ("dy18",), "bert-base": ("ts14", "dy18"), "gpt2": ("dy20",),
    "deeplabv3_mobilenet_v3_large": ("dy20",),
}


def write(sample, oracle):
    name, variant = sample.rsplit("_", 1)
    kind, opset = variant[:-2], int(variant[-2:])
    model, parameters = exported(name, kind, opset)
    sets = [symbols for _, _, symbols in settings(name)]
    entry = {"network": name, "opset": opset, "parameters": parameters,
             "stored": sum(int(numpy.prod(tensor.dims)) for tensor in model.graph.initializer if is_real(tensor) and tensor.dims),
             "flops": counted(name), "shapes": onnxruntime_shapes(model, sets)}
    if kind in QUANTIZED:
        del entry["parameters"]
        for line in entry["flops"]:
            del line["forward_backward"]
    strip(model)
    save(sample, model)
    oracle[sample] = entry


def save(sample, model):
    path = FOLDER / f"{sample}.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))
    print(f"{sample}: {path.stat().st_size} bytes, {len(model.graph.node)} nodes", flush=True)


def write_oracle(oracle):
    lines = []
    for sample in sorted(oracle):
        entry = dict(oracle[sample])
        shapes = entry.pop("shapes")
        head = json.dumps(entry)[:-1]
        lines.append(f'"{sample}": {head}, "shapes": {{\n' + ",\n".join(
            f"  {json.dumps(value)}: {json.dumps(sizes, separators=(',', ':'))}" for value, sizes in shapes.items()) + "}}")
    (FOLDER / "oracle.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "oracle.json"
    oracle = json.loads(path.read_text()) if path.exists() else {}
    asked = sys.argv[1:]
    every = [f"{name}_{variant}" for name, variants in SAMPLES.items() for variant in variants]
    for sample in asked or every:
        try:
            write(sample, oracle)
        except Exception as error:  # noqa: BLE001 the others are still worth writing
            print(f"{sample}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
        write_oracle(oracle)


if __name__ == "__main__":
    main()
