#!/usr/bin/env python3
"""Writes the zoo: well-known networks as weight-free .pt2 files, each as it infers and as it trains.

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

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

import zoo_networks
from make_pt2_samples import relative_source

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = list(zoo_networks.NETWORKS)
FORMS = ("eval", "train")


def build(name, batch, device="cpu", train=False, **sizes):
    """The network and example inputs; `sizes` are those of further symbols (sequence, decoder_sequence, past)."""
    return zoo_networks.build(name, {"batch": batch, **sizes}, device, train)


def dynamic_shapes(name, form):
    known = zoo_networks.NETWORKS[name]
    dimensions = {}
    for symbol in known.symbols():
        low, high = known.range(symbol, form == "train")
        dimensions[symbol] = torch.export.Dim(symbol, min=low, max=high)

    def of(tensor):
        return {place: dimensions[size] for place, size in enumerate(tensor.shape) if isinstance(size, str)}
    return tree_map(of, known.inputs)


def export(name, form="eval"):
    """The training IR, no decompositions are run, with every symbol of the network dynamic."""
    with FakeTensorMode(allow_non_fake_inputs=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network, inputs = zoo_networks.build(name, train=form == "train")
        return torch.export.export(network, inputs, dynamic_shapes=dynamic_shapes(name, form), strict=False)


def shorten_stack_trace(trace):
    """Keeps torch's own wording, so that one parser reads zoo files and genuine ones. torch.nn's frames only repeat the module's class."""
    frames = [(relative_source(path), line, function) for path, line, function in re.findall(r'File "([^"]+)", line (\d+), in (\S+)', trace)]
    frames = [frame for frame in frames if not frame[0].startswith(("torch/nn/", "tools/"))] or frames
    return "\n  ".join(f'File "{path}", line {line}, in {function}' for path, line, function in frames)


def strip_metadata(graph):
    """Of this graph and of those that its higher-order nodes call."""
    for node in graph["nodes"]:
        metadata = node["metadata"]
        node["metadata"] = {key: metadata[key] for key in ("stack_trace", "nn_module_stack") if key in metadata}
        if "stack_trace" in metadata:
            node["metadata"]["stack_trace"] = shorten_stack_trace(metadata["stack_trace"])
        if "nn_module_stack" in metadata:
            node["metadata"]["nn_module_stack"] = re.sub(r"(?<=,)zoo_networks\.", "tools.zoo_networks.", metadata["nn_module_stack"])
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                strip_metadata(argument["arg"]["as_graph"]["graph"])


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


def user_tensors(program):
    """The graph's placeholders for what the caller passes, in order."""
    names = set(program.graph_signature.user_inputs)
    return [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names]


def symbols(name, program):
    """torch renames the dimension we called "batch" (to s77 or s72): which it is."""
    found = {}
    for declared, tensor in zip(tree_leaves(zoo_networks.NETWORKS[name].inputs), user_tensors(program), strict=True):
        for size, symbol in zip(declared.shape, tensor.shape, strict=True):
            if isinstance(size, str):
                found[size] = str(symbol)
    return dict(sorted(found.items()))


def tied(name, form):
    """Names of parameters that are one tensor, a list for each such tensor."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        network, _ = zoo_networks.build(name, train=form == "train")
    names = {}
    for parameter_name, parameter in network.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(parameter_name)
    return [same for same in names.values() if len(same) > 1]


def file_of(name, form):
    return REPOSITORY / "zoo" / (f"{name}.pt2" if form == "eval" else f"{name}.train.pt2")


def write_network(name, form, program):
    ties = tied(name, form)
    known = zoo_networks.NETWORKS[name]
    note = {
        "name": name,
        "symbols": symbols(name, program),
        "example": {symbol: zoo_networks.EXAMPLE[symbol] for symbol in known.symbols()},
        "inputs": [{"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)} for tensor in tree_leaves(known.inputs)],
        "mode": form,
        "source": known.source,
        "parameters": known.parameters,
        "weights": "none",
    } | ({"tied": ties} if ties else {})
    entries = saved_entries(program, extra_files={"joulecast.json": compact(note).decode()})
    model = json.loads(entries["models/model.json"])
    strip_metadata(model["graph_module"]["graph"])
    kept = [(f"{name}/{entry}", entries[entry]) for entry in
            ("archive_format", "archive_version", ".data/version", "byteorder") if entry in entries]
    kept += [(f"{name}/models/model.json", compact(model)), (f"{name}/extra/joulecast.json", entries["extra/joulecast.json"])]
    path = file_of(name, form)
    write_zip(path, kept, zipfile.ZIP_DEFLATED)
    nodes = model["graph_module"]["graph"]["nodes"]
    print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size} bytes, {len(nodes)} nodes, {note['symbols']}", flush=True)


def main():
    (REPOSITORY / "zoo").mkdir(exist_ok=True)
    for name in sys.argv[1:] or NETWORKS:
        for form in FORMS:
            write_network(name, form, export(name, form))


if __name__ == "__main__":
    main()
