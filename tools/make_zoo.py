#!/usr/bin/env python3
"""Writes the zoo: twelve well-known networks as weight-free .pt2 files.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_zoo.py            # everything
    ~/.cache/joulecast/torch-2.13/bin/python tools/make_zoo.py gpt2       # one network

A zoo file is what torch.export.save wrote, re-packed: the model's JSON, the version entries and extra/joulecast.json, deflated, with a
fixed time. Weights, constants and sample inputs are left out. The JSON keeps torch's own format; of a node's metadata
nn_module_stack stays, stack_trace keeps its file, line and function with paths relative to site-packages, and the rest goes.
Running it twice gives the same bytes. Needs torch 2.13, torchvision 0.28, transformers 5.23.
"""
import io
import json
import pathlib
import re
import sys
import warnings
import zipfile
from unittest import mock

import torch
import torchvision
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode

from make_pt2_samples import relative_source

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
IMAGE_NETWORKS = ["alexnet", "vgg11", "resnet18", "resnet50", "mobilenet_v2", "densenet121", "efficientnet_b0",
                  "convnext_tiny", "swin_t", "vit_b_16"]
NETWORKS = IMAGE_NETWORKS + ["bert-base", "gpt2"]
SEQUENCE = 128
MAX_BATCH = 4096


class BertEncoder(transformers.BertModel):
    """bert-base without a head: token ids (batch, 128) to the last hidden state and the pooled output."""

    def forward(self, input_ids):
        output = super().forward(input_ids)
        return output.last_hidden_state, output.pooler_output


class Gpt2LanguageModel(transformers.GPT2LMHeadModel):
    """gpt2 with its language head: token ids (batch, 128) to logits."""

    def forward(self, input_ids):
        return super().forward(input_ids).logits


def build(name, batch, device="cpu"):
    """The network in eval() form and example inputs. Call it under FakeTensorMode: then no weight is ever allocated."""
    # torchvision's trunc_normal_ asks tensors for their values, which fake ones do not have; nothing here needs initial values.
    with mock.patch("torch.nn.init.trunc_normal_", lambda tensor, *_, **__: tensor), torch.device(device):
        if name == "bert-base":
            network = BertEncoder(transformers.BertConfig(attn_implementation="sdpa", use_cache=False))
        elif name == "gpt2":
            network = Gpt2LanguageModel(transformers.GPT2Config(attn_implementation="sdpa", use_cache=False))
        else:
            network = torchvision.models.get_model(name, weights=None)
        if name in IMAGE_NETWORKS:
            example = torch.randn(batch, 3, 224, 224)
        else:
            example = torch.zeros(batch, SEQUENCE, dtype=torch.int64)
    return network.eval(), (example,)


def export(network, inputs, dynamic_batch):
    """The training IR: no decompositions are run."""
    shapes = ({0: torch.export.Dim("batch", min=1, max=MAX_BATCH)},) if dynamic_batch else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(network, inputs, dynamic_shapes=shapes, strict=False)


def shorten_stack_trace(trace):
    """Keeps torch's own wording, so that one parser reads zoo files and genuine ones. torch.nn's frames only repeat the module's class."""
    frames = [(relative_source(path), line, function) for path, line, function in re.findall(r'File "([^"]+)", line (\d+), in (\S+)', trace)]
    frames = [frame for frame in frames if not frame[0].startswith(("torch/nn/", "tools/"))] or frames
    return "\n  ".join(f'File "{path}", line {line}, in {function}' for path, line, function in frames)


def strip_metadata(model):
    for node in model["graph_module"]["graph"]["nodes"]:
        metadata = node["metadata"]
        node["metadata"] = {key: metadata[key] for key in ("stack_trace", "nn_module_stack") if key in metadata}
        if "stack_trace" in metadata:
            node["metadata"]["stack_trace"] = shorten_stack_trace(metadata["stack_trace"])
        if "nn_module_stack" in metadata:  # a class of this script would be __main__ or make_zoo, as it was started
            node["metadata"]["nn_module_stack"] = re.sub(r"(?<=,)(__main__|make_zoo)\.", "tools.make_zoo.", metadata["nn_module_stack"])


def compact(document):
    return json.dumps(document, separators=(",", ":")).encode()


def write_zip(path, entries, compression):
    """Same bytes on every run: fixed time, given order, no host attributes."""
    with zipfile.ZipFile(path, "w", compression, compresslevel=9) as archive:
        for name, content in entries:
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = compression
            archive.writestr(entry, content)


def saved_entries(program, extra_files=None):
    """What torch.export.save writes for this program, by name without the root folder."""
    buffer = io.BytesIO()
    torch.export.save(program, buffer, extra_files=extra_files)
    with zipfile.ZipFile(buffer) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def batch_symbol(program):
    """torch renames the dimension we called "batch" (to s77 or s72): the file says which it is."""
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in program.graph_signature.user_inputs:
            return str(node.meta["val"].shape[0])
    raise RuntimeError("the program has no tensor input")


def write_network(name):
    with FakeTensorMode(allow_non_fake_inputs=True):
        network, inputs = build(name, batch=2)
        program = export(network, inputs, dynamic_batch=True)
    symbol = batch_symbol(program)
    note = {
        "name": name,
        "symbols": {"batch": symbol},
        "example": {"batch": 2},
        "inputs": [{"dtype": str(tensor.dtype).removeprefix("torch."), "shape": ["batch", *tensor.shape[1:]]} for tensor in inputs],
        "mode": "eval",
        "source": f"torchvision {torchvision.__version__}" if name in IMAGE_NETWORKS else f"transformers {transformers.__version__}",
        "weights": "none",
    }
    entries = saved_entries(program, extra_files={"joulecast.json": compact(note).decode()})
    model = json.loads(entries["models/model.json"])
    strip_metadata(model)
    kept = [(f"{name}/{entry}", entries[entry]) for entry in
            ("archive_format", "archive_version", ".data/version", "byteorder") if entry in entries]
    kept += [(f"{name}/models/model.json", compact(model)), (f"{name}/extra/joulecast.json", entries["extra/joulecast.json"])]
    path = REPOSITORY / "zoo" / f"{name}.pt2"
    write_zip(path, kept, zipfile.ZIP_DEFLATED)
    nodes = model["graph_module"]["graph"]["nodes"]
    print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size} bytes, {len(nodes)} nodes, batch is {symbol}")


def main():
    names = sys.argv[1:] or NETWORKS
    (REPOSITORY / "zoo").mkdir(exist_ok=True)
    for name in names:
        write_network(name)


if __name__ == "__main__":
    main()
