"""Writes models with about 1 GB of weights: big.pt2 (stored zip entries), big.onnx (weights embedded) and
big_external.onnx with its weights in big_external.data. For the benchmark of reading graphs.

usage: make_big_models.py FOLDER   (in a Python with torch; the .onnx files need the package onnx too)

The network is a stack of wide linear layers: few calls, much weight, so that what is read besides the graph shows.
"""

import pathlib
import sys

import torch

LAYERS = 16
WIDTH = 4096  # 16 x 4096 x 4096 floats of 4 bytes: 1.07 GB


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def write_pt2(model, folder):
    batch = torch.export.Dim("batch", min=1, max=4096)
    exported = torch.export.export(model, (torch.randn(2, WIDTH),), dynamic_shapes=({0: batch},))
    torch.export.save(exported, folder / "big.pt2")


def write_onnx(model, folder):
    import onnx
    from onnx import TensorProto, helper

    nodes, initializers, name = [], [], "x"
    for i, layer in enumerate(model.layers):
        weight = helper.make_tensor(
            f"w{i}", TensorProto.FLOAT, [WIDTH, WIDTH], layer.weight.detach().t().contiguous().numpy().tobytes(), raw=True
        )
        initializers.append(weight)
        nodes.append(helper.make_node("MatMul", [name, f"w{i}"], [f"m{i}"]))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"r{i}"]))
        name = f"r{i}"
    graph = helper.make_graph(
        nodes,
        "big",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", WIDTH])],
        initializers,
    )
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(whole, folder / "big.onnx")
    onnx.save(
        whole,
        folder / "big_external.onnx",
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location="big_external.data",
    )


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = Wide().eval()
    write_pt2(model, folder)
    write_onnx(model, folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
