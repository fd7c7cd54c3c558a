#!/usr/bin/env python3
"""Writes the genuine .pt2 files that tests/graph opens.

    ~/.cache/joulecast/torch-2.13/bin/python tools/make_pt2_samples.py    # small_*, pairs_*, rich_torch_2.13*
    <python with torch 2.6> tools/make_pt2_samples.py                     # old_layout.pt2, rich_torch_2.6.pt2
    <python with torch 2.7 to 2.12> tools/make_pt2_samples.py             # rich_torch_<version>.pt2

genuine_small.pt2, decomposed_small.pt2 and old_layout.pt2 are as torch.export.save leaves them, weights and all. The rest is re-packed without weights.
Only this machine's paths (and a decomposed graph's from_node, which holds addresses) are taken out. torch 2.6-2.7 put serialized_exported_program.json at the top level and wrote
neither the kind of an argument nor the name of a node; from 2.8 on the model is <root>/models/model.json.
"""
import io
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


class RichNetwork(torch.nn.Module):
    """A little of everything that exporters write: two symbols, higher-order calls, a mutated buffer, constants, several outputs."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.embed = torch.nn.Embedding(20, 16)
        self.positions = torch.nn.Parameter(torch.zeros(64, 16))
        self.project = torch.nn.Linear(16, 16)
        self.lstm = torch.nn.LSTM(8, 16, batch_first=True)
        self.head = torch.nn.Linear(16, 4)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, image, tokens):
        self.calls.add_(1)
        picture = torch.relu(self.norm(self.conv(image)))
        features = picture.mean((2, 3))
        states, _ = self.lstm(picture.mean(2).transpose(1, 2))
        batch, sequence = tokens.shape
        embedded = self.embed(tokens) + self.positions[:sequence]
        steps = torch.arange(sequence).to(torch.float32)
        with torch.no_grad():
            scale = steps * torch.tensor([0.5])
            if not old_torch():  # torch 2.6 and 2.7 cannot save a symbol that goes into a sub-graph
                scale = scale[:sequence]
        heads = (embedded * scale.unsqueeze(-1)).view(batch, sequence, 2, 8).transpose(1, 2)
        attended = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        attended = attended.transpose(1, 2).reshape(batch, sequence, 16)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            mixed = self.project(attended)
        joined = torch.cat([mixed.float(), embedded], 1)
        gate = torch.cond(tokens.sum() > 0, gate_open, gate_closed, (features,))
        return {"tokens": self.head(joined), "image": (gate, states)}


def gate_open(features):
    return features.sigmoid()


def gate_closed(features):
    return features.sin() * 2


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Conv1d(4, 8, 3, padding="same")
        self.back = torch.nn.ConvTranspose1d(8, 4, 4, stride=2)
        self.plane = torch.nn.Conv2d(4, 8, 3, stride=2, padding=1, dilation=2, groups=2, bias=False)
        self.up = torch.nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1)
        self.space = torch.nn.Conv3d(4, 4, (1, 3, 3), padding=(0, 1, 1))

    def forward(self, line, plane):
        return self.back(self.line(line)), self.space(self.up(self.plane(plane)).unsqueeze(2).expand(-1, -1, 3, -1, -1))


class ResidualBlock(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False)
        self.first = torch.nn.BatchNorm2d(8)
        self.pool = torch.nn.MaxPool2d(3, 2, 1)
        self.conv = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.second = torch.nn.BatchNorm2d(8)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, image):
        x = self.pool(torch.nn.functional.relu(self.first(self.stem(image)), inplace=True))
        x = torch.relu(self.second(self.conv(x)) + x)
        x = torch.nn.functional.dropout(x, 0.2, self.training)
        return self.head(torch.flatten(torch.nn.functional.adaptive_avg_pool2d(x, 1), 1))


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before = torch.nn.LayerNorm(16)
        self.queries, self.keys, self.values = (torch.nn.Linear(16, 16) for _ in range(3))
        self.output = torch.nn.Linear(16, 16, bias=False)
        self.after = torch.nn.LayerNorm(16)
        self.wide, self.narrow = torch.nn.Linear(16, 64), torch.nn.Linear(64, 16)

    def forward(self, x):
        y = self.before(x)
        heads = [part.reshape(x.shape[0], -1, 2, 8).transpose(1, 2) for part in (self.queries(y), self.keys(y), self.values(y))]
        weights = torch.softmax(heads[0] @ heads[1].transpose(-2, -1) * 0.35, -1)
        x = x + self.output((weights @ heads[2]).transpose(1, 2).flatten(2))
        return x + self.narrow(torch.nn.functional.gelu(self.wide(self.after(x))))


class Normalizations(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.group = torch.nn.GroupNorm(2, 8)
        self.batch = torch.nn.BatchNorm1d(8)
        self.layer = torch.nn.LayerNorm((8, 6))

    def forward(self, x):
        x = self.layer(self.batch(self.group(x)))
        return torch.log_softmax(x, 1), torch.softmax(x, -1, dtype=torch.float64)


class Mobile(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = torch.nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False)
        self.norm = torch.nn.BatchNorm2d(8)
        self.squeeze, self.excite = torch.nn.Conv2d(8, 4, 1), torch.nn.Conv2d(4, 8, 1)

    def forward(self, image):
        x = torch.nn.functional.silu(self.norm(self.depthwise(image)))
        weights = torch.sigmoid(self.excite(torch.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        x = torch.nn.functional.relu6(x * weights)
        return torch.nn.functional.adaptive_avg_pool2d(x, (3, 5)), torch.nn.functional.max_pool2d(x, 2)


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(20, 12)
        self.project = torch.nn.Linear(12, 24)

    def forward(self, tokens):
        x = self.project(self.embed(tokens))
        gate, value = x.chunk(2, -1)
        mixed = (torch.sigmoid(gate) * value).to(torch.bfloat16).float()
        scores = torch.bmm(mixed, mixed.transpose(1, 2)).masked_fill(tokens.unsqueeze(1) == 0, -1e9)
        return torch.matmul(mixed, self.embed.weight.t()), scores.softmax(-1)


class Products(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 8)
        self.second = torch.nn.Linear(8, 4, bias=False)

    def forward(self, flat, deep):
        y = self.second(torch.relu(self.first(flat)))
        return y, self.second(self.first(deep.permute(1, 0, 2, 3))), torch.matmul(deep, deep.transpose(2, 3))


def pairs():
    """Networks that are exported both as written and decomposed to core ATen: (network, inputs)."""
    return {
        "convolutions": (Convolutions(), (torch.randn(2, 4, 12), torch.randn(2, 4, 9, 9))),
        "residual": (ResidualBlock(), (torch.randn(2, 3, 32, 32),)),
        "encoder": (Encoder(), (torch.randn(2, 6, 16),)),
        "normalizations": (Normalizations(), (torch.randn(2, 8, 6),)),
        "mobile": (Mobile(), (torch.randn(2, 8, 12, 12),)),
        "language": (Language(), (torch.ones(2, 7, dtype=torch.int64),)),
        "products": (Products(), (torch.randn(2, 6), torch.randn(2, 3, 5, 6))),
    }


def relative_source(path):
    """The path below site-packages; for a file of this repository its last two parts."""
    path = path.replace("\\", "/")
    if "site-packages/" in path:
        return path.rsplit("site-packages/", 1)[1]
    return "/".join(pathlib.Path(path).parts[-2:])


def scrub(program):
    """Takes out what is this machine's or this run's: absolute paths, and from_node, which holds addresses."""
    graphs = [module.graph for module in program.graph_module.modules() if isinstance(module, torch.fx.GraphModule)]
    for node in (node for graph in graphs for node in graph.nodes):
        if node.meta.get("stack_trace"):
            node.meta["stack_trace"] = re.sub(r'File "([^"]+)"', lambda found: f'File "{relative_source(found[1])}"', node.meta["stack_trace"])
        node.meta.pop("from_node", None)


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


def repack(program, name):
    """As torch.export.save writes it, without weights and sample inputs, deflated; paths in the JSON become relative."""
    scrub(program)
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    path = FOLDER / name
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as kept:
        for entry in sorted(archive.namelist()):
            inside = entry.split("/", 1)[-1]
            if inside in ("archive_format", "archive_version", "version", "byteorder", "models/model.json", "serialized_exported_program.json"):
                content = archive.read(entry)
                if entry.endswith(".json"):
                    assert not re.search(r"[\"' (]/(root|home|work|tmp|usr)/", content.decode()), f"{name} holds a path of this machine"
                info = zipfile.ZipInfo(entry, date_time=(1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                kept.writestr(info, content)
    print(f"{name}: {path.stat().st_size} bytes, torch {torch.__version__}")


def old_torch():
    return tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 8)


def rich(strict):
    batch = torch.export.Dim("batch", min=1, max=4096)
    sequence = torch.export.Dim("sequence", min=2, max=64)
    inputs = (torch.randn(2, 3, 16, 16), torch.ones(2, 8, dtype=torch.int64))
    return torch.export.export(RichNetwork().eval(), inputs, dynamic_shapes=({0: batch}, {0: batch, 1: sequence}), strict=strict)


def save_pairs():
    batch = torch.export.Dim("batch", min=1, max=4096)
    for name, (network, inputs) in pairs().items():
        program = torch.export.export(network.eval(), inputs, dynamic_shapes=tuple({0: batch} for _ in inputs), strict=False)
        repack(program.run_decompositions(), f"pairs_{name}_decomposed.pt2")
        repack(program, f"pairs_{name}.pt2")


def save_small():
    batch = torch.export.Dim("batch", min=1, max=4096)
    program = torch.export.export(SmallNetwork().eval(), (torch.randn(2, 3, 32, 32),), dynamic_shapes=({0: batch},), strict=False)
    if old_torch():
        save(program, "old_layout.pt2")
    else:
        save(program, "genuine_small.pt2")
        save(program.run_decompositions(), "decomposed_small.pt2")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    version = ".".join(torch.__version__.split(".")[:2])
    repack(rich(strict=False), f"rich_torch_{version}.pt2")
    if version in ("2.6", "2.13"):
        save_small()
    if version == "2.13":
        repack(rich(strict=True), "rich_torch_2.13_strict.pt2")
        repack(rich(strict=False).run_decompositions(), "rich_torch_2.13_decomposed.pt2")
        save_pairs()


if __name__ == "__main__":
    main()
