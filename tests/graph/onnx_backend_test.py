"""Reads the test models of the Python package `onnx`, and compares the outputs' types and shapes.

    python tests/graph/onnx_backend_test.py PROGRAM [--folder onnx/backend/test/data] [--refused] [--missing]

PROGRAM is graph_print_onnx_outputs. What an output is to be: the tensors of each model's test data sets (output_*.pb), and what
onnx.shape_inference says of the model. Ends with 77 where the package, or its models, are missing.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
# Unsigned types of more than 8 bits as the signed ones of their width, as the reader has them.
DTYPES = {1: "f32", 2: "u8", 3: "i8", 4: "i16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16", 11: "f64", 12: "i32", 13: "i64",
          14: "c64", 15: "c128", 16: "bf16", 17: "f8e4m3fn", 18: "f8e4m3fn", 19: "f8e5m2", 20: "f8e5m2"}
# Of all models, and of the nodes of those that are read.
LEAST_READ, LEAST_WITH_RECORD = 1250 / 1401, 0.995


def folder_of_package():
    try:
        import onnx.backend.test
    except ImportError as error:
        print(f"skipped: {sys.executable} has no package onnx ({error})")
        sys.exit(SKIPPED)
    return pathlib.Path(onnx.backend.test.__file__).parent / "data"


def tensors(folder, infos, kind):
    """Those of one test data set, a list for each value; None for maps and optionals."""
    import onnx
    found = []
    for index, info in enumerate(infos):
        file = folder / f"{kind}_{index}.pb"
        tensors_of = {"tensor_type": lambda data: [onnx.TensorProto.FromString(data)],
                      "sequence_type": lambda data: onnx.SequenceProto.FromString(data).tensor_values}
        kind_of_value = info.type.WhichOneof("value")
        found.append(tensors_of[kind_of_value](file.read_bytes()) if kind_of_value in tensors_of and file.exists() else None)
    return found


def settings(file):
    """Values for --set, out of the first test data set."""
    import onnx
    model = onnx.load(file, load_external_data=False)
    data_set = file.parent / "test_data_set_0"
    values = {}
    for info, parts in zip(model.graph.input, tensors(data_set, model.graph.input, "input")):
        if not info.type.HasField("tensor_type") or parts is None:
            continue
        tensor = parts[0]
        for position, (dim, size) in enumerate(zip(info.type.tensor_type.shape.dim, tensor.dims)):
            if not dim.HasField("dim_value"):
                values[dim.dim_param or f"{info.name}_dim_{position}"] = size
        numbers = onnx.numpy_helper.to_array(tensor)
        if numbers.dtype.kind in "iub" and numbers.ndim <= 1 and numbers.size <= 64:
            values |= {f"{info.name}_value_{i}": int(number) for i, number in enumerate(numbers.flatten())}
    return [f"{name}={value}" for name, value in values.items()]


def needs_numbers(answer):
    """The message says which to set, or a branch or loop was kept whole since its condition is an input."""
    if "refused" in answer:
        return "--set" in answer["refused"]
    return any(node["target"] in ("onnx::If", "onnx::Loop") for node in answer["nodes"])


def asked(program, lines):
    text = "".join("\t".join(line) + "\n" for line in lines)
    printed = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in printed.splitlines()]
    assert len(answers) == len(lines), "not an answer for each model"
    return answers


def expected_by_data(model, file):
    """Of all outputs, those of sequences one by one; None where they hold no numbers."""
    import onnx
    expected = []
    for info, parts in zip(model.graph.output, tensors(file.parent / "test_data_set_0", model.graph.output, "output")):
        for tensor in parts if parts is not None else [None]:
            if tensor is not None and info.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
                tensor.data_type = onnx.TensorProto.BFLOAT16  # some were written as uint16: numpy has no such type
            expected.append(tensor and ("test data", tensor.data_type, list(tensor.dims)))
    return expected


def expected_by_inference(model):
    """Of all outputs; None where nothing is inferred. Empty where one is no tensor."""
    import onnx
    cleared = onnx.ModelProto()
    cleared.CopyFrom(model)
    for output in cleared.graph.output:
        if not output.type.HasField("tensor_type"):
            return []
        output.type.tensor_type.ClearField("shape")
    try:
        outputs = onnx.shape_inference.infer_shapes(cleared, data_prop=True).graph.output
    except onnx.shape_inference.InferenceError:
        return []
    inferred = []
    for output in outputs:
        kind = output.type.tensor_type
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
        inferred.append(("shape inference", kind.elem_type, sizes) if kind.HasField("shape") else None)
    return inferred


def differences(model, file, answer):
    """What is wrong with the reader's outputs, and how many were compared."""
    wrong, compared = [], 0
    by_data = expected_by_data(model, file)
    if len(answer["outputs"]) != len(by_data):
        wrong.append(f"{len(answer['outputs'])} outputs instead of {len(by_data)}")
    for wanted in (by_data, expected_by_inference(model)):
        for index, (entry, ours) in enumerate(zip(wanted, answer["outputs"])):
            if entry is None or entry[1] not in DTYPES:
                continue
            source, dtype, sizes = entry
            fits = len(sizes) == len(ours["sizes"]) and all(a in (None, b) for a, b in zip(sizes, ours["sizes"]))
            if ours["dtype"] != DTYPES[dtype] or not fits:
                wrong.append(f"output {index}: {ours['dtype']}{ours['sizes']}, by {source} {DTYPES[dtype]}{sizes}")
            compared += 1
    return wrong, compared


def without_names(reason):
    """A reason to count: names and numbers taken out."""
    reason = re.sub(r'"[^"]*"', '"..."', reason.split(": ", 1)[-1])
    reason = re.sub(r"^node \d+ \((\S+) [^)]*\): ", r"\1: ", reason)
    return re.sub(r"\d+", "N", reason)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--refused", action="store_true", help="print each model that is refused")
    parser.add_argument("--missing", action="store_true", help="print each node without a record")
    options = parser.parse_args()
    folder = options.folder or folder_of_package()
    import onnx

    files = sorted(folder.glob("*/*/model.onnx"))
    if not files:
        print(f"skipped: onnx {onnx.__version__} brings no models in {folder}")
        sys.exit(SKIPPED)
    answers = asked(options.program, [[str(file)] for file in files])
    at_once = sum("refused" not in answer for answer in answers)
    # What a user would do next: --set the sizes that the file leaves open, and the numbers of the inputs it names.
    again = [index for index, answer in enumerate(answers) if needs_numbers(answer)]
    for index, answer in zip(again, asked(options.program, [[str(files[index]), *settings(files[index])] for index in again])):
        answers[index] = answer

    refused, without_record, wrong = collections.Counter(), collections.Counter(), []
    read = nodes = compared = 0
    for file, answer in zip(files, answers):
        name = f"{file.parent.parent.name}/{file.parent.name}"
        if "refused" in answer:
            refused[without_names(answer["refused"])] += 1
            if options.refused:
                print(f"refused {name}: {answer['refused']}")
            continue
        read += 1
        nodes += len(answer["nodes"])
        for node in answer["nodes"]:
            if node["has_record"]:
                continue
            without_record[node["target"]] += 1
            if options.missing:
                print(f"without record {name}: {node['target']}")
        found, count = differences(onnx.load(file, load_external_data=False), file, answer)
        compared += count
        wrong += [f"{name}: {line}" for line in found]

    for reason, count in refused.most_common():
        print(f"{count:5} refused: {reason}")
    for target, count in without_record.most_common():
        print(f"{count:5} without record: {target}")
    for line in wrong:
        print(f"WRONG {line}")
    with_record = nodes - sum(without_record.values())
    print(f"onnx {onnx.__version__}: {read} of {len(files)} models read, {at_once} of them without --set, {with_record} of {nodes} nodes with a record "
          f"({with_record / nodes:.2%}), {compared} outputs compared, {len(wrong)} wrong")
    assert not wrong
    assert read >= LEAST_READ * len(files), "too few models are read"
    assert with_record >= LEAST_WITH_RECORD * nodes, "too many nodes have no record"


if __name__ == "__main__":
    main()
