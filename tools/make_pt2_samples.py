#!/usr/bin/env python3
"""Writes the genuine .pt2 files that tests/graph opens: one small network as torch.export.save leaves it, weights and all.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_pt2_samples.py    # genuine_small.pt2, decomposed_small.pt2
    <python with torch 2.6> tools/make_pt2_samples.py                     # old_layout.pt2 (pip install torch==2.6.0 numpy)

Only this machine's paths (and a decomposed graph's addresses) are taken out, before saving. torch 2.6-2.7 put serialized_exported_program.json at the top level and wrote
neither the kind of an argument nor the name of a node; from 2.8 on the model is <root>/models/model.json.
"""
import pathlib
import re
import zipfile

import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/graph/data"


class SmallNetwork(torch.nn.Module):
    """Convolution, batch norm, linear: one of each kind of weight, about 300 numbers."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(8)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, image):
        features = torch.relu(self.norm(self.conv(image)))
        return self.head(features.mean((2, 3)))


def relative_source(path):
    """The path below site-packages; for a file of this repository its last two parts."""
    path = path.replace("\\", "/")
    if "site-packages/" in path:
        return path.rsplit("site-packages/", 1)[1]
    return "/".join(pathlib.Path(path).parts[-2:])


def scrub(program):
    """Takes out what is this machine's or this run's: absolute paths, and the addresses that stand for graphs in from_node."""
    def zero_addresses(sources):
        for source in sources:
            source.graph_id = 0
            zero_addresses(source.from_node)
    for node in program.graph.nodes:
        if node.meta.get("stack_trace"):
            node.meta["stack_trace"] = re.sub(r'File "([^"]+)"', lambda found: f'File "{relative_source(found[1])}"', node.meta["stack_trace"])
        zero_addresses(node.meta.get("from_node", []))


def fix_times(path):
    """torch 2.6 writes with Python's zipfile and the current time: write the same entries again with a fixed one."""
    with zipfile.ZipFile(path) as archive:
        entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), content)


def save(program, name):
    scrub(program)
    path = FOLDER / name
    torch.export.save(program, path)
    if old_torch():
        fix_times(path)
    print(f"{name}: {path.stat().st_size} bytes, torch {torch.__version__}")


def old_torch():
    return tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 8)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    batch = torch.export.Dim("batch", min=1, max=4096)
    program = torch.export.export(SmallNetwork().eval(), (torch.randn(2, 3, 32, 32),), dynamic_shapes=({0: batch},), strict=False)
    if old_torch():
        save(program, "old_layout.pt2")
    else:
        save(program, "genuine_small.pt2")
        save(program.run_decompositions(), "decomposed_small.pt2")


if __name__ == "__main__":
    main()
