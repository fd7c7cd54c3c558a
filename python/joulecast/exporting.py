"""Modules become files: torch.export, run for the user, and in plain words why it fails."""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import json
import logging
import os
import pathlib
import re
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Union

from joulecast._native import Error, UsageError
from joulecast.export_hf import first_line, without_weights

if TYPE_CHECKING:
    import torch


def listed(value: object) -> list[Any]:
    """The value itself as a list of one, unless it is a list or tuple."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


class Module(Protocol):
    """An nn.Module, for type checkers that do not see torch."""
    training: bool

    def modules(self) -> Iterable[Any]: ...


class Program(Protocol):
    """A torch.export.ExportedProgram, likewise."""

    @property
    def graph_signature(self) -> Any: ...


Model = Union[str, "os.PathLike[str]", Module, Program]


class ExportError(Error):
    """torch.export could not make a graph of the module; its own error is the cause (`__cause__`)."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Files that are asked about at once."""
    files: list[str]
    modes: list[str]
    batch: int | list[int] | None
    """None: as the file has it."""
    fixed_batch: int | None = None
    """Of a graph that was exported at this batch alone."""
    notes: tuple[str, ...] = ()


@contextlib.contextmanager
def runs_of(model: Any, example_inputs: Any, modes: list[str], batch: int | list[int] | None) -> Iterator[list[Run]]:
    """What to ask about; files that were written for it live as long as the context."""
    if not _is_torch(model):
        names = [os.fspath(name) if isinstance(name, os.PathLike) else name for name in listed(model)]
        for name in names:
            if not isinstance(name, str):
                raise UsageError(f"a model is an nn.Module, an ExportedProgram, a path or a name of the zoo, not {type(name).__name__}")
        if example_inputs is not None:
            raise UsageError("example_inputs are for a module; a file has its own")
        yield [Run(names, modes, batch)]
        return
    with tempfile.TemporaryDirectory(prefix="joulecast-") as folder:
        yield _exported_runs(model, example_inputs, modes, batch, pathlib.Path(folder))


def _is_torch(model: Any) -> bool:
    # Who has made a module has imported torch; we need not.
    torch_loaded = sys.modules.get("torch")
    return torch_loaded is not None and isinstance(model, (torch_loaded.nn.Module, torch_loaded.export.ExportedProgram))


def _exported_runs(model: Any, example_inputs: Any, modes: list[str], batch: int | list[int] | None, folder: pathlib.Path) -> list[Run]:
    import torch
    if isinstance(model, torch.export.ExportedProgram):
        return [Run([_save(model, folder / _file_name(_name_of_program(model)))], modes, batch)]
    if example_inputs is None:
        raise UsageError("a module needs example_inputs: the arguments of its forward, as a tuple of tensors, or a dict of keyword arguments")
    runs: list[Run] = []
    for mode in modes:
        # Drop-out, auxiliary heads and the like: a graph is that of the mode in which it was exported.
        with _training(model, mode == "training"):
            runs += _runs_in_mode(model, _Call.of(example_inputs), mode, batch, folder)
    return runs


def _runs_in_mode(module: torch.nn.Module, call: _Call, mode: str, batch: int | list[int] | None, folder: pathlib.Path) -> list[Run]:
    def written(program: Any, part: str) -> list[str]:
        place = folder / mode / part
        place.mkdir(parents=True)
        return [_save(program, place / _file_name(type(module).__name__))]

    asked = [] if batch is None else listed(batch)
    if all(size == call.batch for size in asked):
        return [Run(written(_export(module, call), "as-given"), [mode], None, fixed_batch=call.batch)]
    failure = None
    try:
        program = _export(module, call.at_least_two(), dynamic=True)
    except ExportError as error:
        failure = str(error)
    if failure:
        note = f"{type(module).__name__} was exported anew for each batch, since its graph holds for one alone: {failure}"
        return [Run(written(_export(module, call.resized(size)), str(size)), [mode], None, fixed_batch=size, notes=(note,)) for size in asked]
    # The one symbol in front of inputs is read as "batch".
    return [Run(written(program, "any"), [mode], batch)]


@contextlib.contextmanager
def _training(module: torch.nn.Module, training: bool) -> Iterator[None]:
    """All of the module in that mode; every part as it was afterwards."""
    before = [(part, part.training) for part in module.modules()]
    module.train(training)
    try:
        yield
    finally:
        for part, was in before:
            part.training = was


@dataclasses.dataclass(frozen=True)
class _Call:
    """Arguments of forward."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @staticmethod
    def of(inputs: Any) -> _Call:
        if isinstance(inputs, Mapping):
            return _Call((), dict(inputs))
        return _Call(tuple(inputs), {}) if isinstance(inputs, (tuple, list)) else _Call((inputs,), {})

    @property
    def batch(self) -> int | None:
        """The first dimension of the first tensor that has one."""
        import torch
        from torch.utils._pytree import tree_leaves
        return next((int(leaf.shape[0]) for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, torch.Tensor) and leaf.dim() > 0), None)

    def _mapped(self, change: Any) -> _Call:
        """`change` of every tensor with the batch in front."""
        import torch
        from torch.utils._pytree import tree_map
        batch = self.batch

        def changed(leaf: Any) -> Any:
            return change(leaf) if isinstance(leaf, torch.Tensor) and leaf.dim() > 0 and leaf.shape[0] == batch else leaf
        args, kwargs = tree_map(changed, (self.args, self.kwargs))
        return _Call(args, kwargs)

    def resized(self, batch: int) -> _Call:
        """The same at another batch: the examples repeated, or the first of them."""
        def to_size(tensor: torch.Tensor) -> torch.Tensor:
            times = -(-batch // tensor.shape[0]) if tensor.shape[0] else 1
            return tensor.detach().repeat(times, *[1] * (tensor.dim() - 1))[:batch]
        if batch < 1:
            raise UsageError(f"the size of batch must be 1 or more, not {batch}")
        return self._mapped(to_size)

    def at_least_two(self) -> _Call:
        """torch.export takes a 1 for a constant."""
        return self.resized(2) if self.batch == 1 else self

    def dynamic_shapes(self, module: torch.nn.Module) -> Any:
        """The batch of every tensor that has it in front."""
        import torch
        from torch.utils._pytree import tree_map
        batch = self.batch
        dimension = torch.export.Dim("batch", min=1)

        def dimensions(leaf: Any) -> Any:
            return {0: dimension} if isinstance(leaf, torch.Tensor) and leaf.dim() > 0 and leaf.shape[0] == batch else None
        return tree_map(dimensions, dict(inspect.signature(module.forward).bind(*self.args, **self.kwargs).arguments))


@contextlib.contextmanager
def _tensors_out(module: torch.nn.Module) -> Iterator[None]:
    """forward returns the tensors of its result alone: caches and tuples with names are none of torch.export's types."""
    import torch
    from torch.utils._pytree import tree_leaves
    own = vars(module).get("forward")
    forward = module.forward

    @functools.wraps(forward)
    def tensors(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tuple(leaf for leaf in tree_leaves(forward(*args, **kwargs)) if isinstance(leaf, torch.Tensor))
    module.forward = tensors
    try:
        yield
    finally:
        del module.forward
        if own is not None:
            module.forward = own


def _export(module: torch.nn.Module, call: _Call, dynamic: bool = False) -> Any:
    import torch
    try:
        with _in_silence(), _tensors_out(module):
            shapes = call.dynamic_shapes(module) if dynamic else None
            return torch.export.export(module, call.args, call.kwargs, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        raise ExportError(_in_plain_words(module, error)) from error


@contextlib.contextmanager
def _in_silence() -> Iterator[None]:
    """Without torch's warnings and pages of logged tracebacks: what failed is raised."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    was = log.disabled
    log.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.disabled = was


_REASONS = (
    (r"Constraints violated|conflicts between user-specified ranges|specialized (?:it|due)|not all values of batch",
     "its code holds the batch fast (a reshape with a number, a bound of its own); write x.reshape(x.shape[0], -1) and the like"),
    (r"data-dependent|GuardOnDataDependent|Could not guard|Could not extract specialized",
     "its forward takes a branch or a size from a tensor's values, and a graph has none. Use torch.where or torch.cond, pass the size as an "
     "argument, or give the part whose cost you want to know"),
    (r"Unsupported input type|not a known type|pytree",
     "an input is neither a tensor nor a list, tuple or dict of tensors (a cache of transformers, an object of your own). Wrap the model in a "
     "module that takes tensors and makes the object of them"),
    (r"\.numpy\(\) is not supported|to numpy|__array__", "its forward leaves torch for NumPy, and only what stays in torch is in the graph"),
    (r"required positional argument|unexpected keyword argument|positional arguments? but|missing a required argument|too many positional",
     "example_inputs are not the arguments of its forward"),
    (r"mat1 and mat2|reduction dim|size of tensor|must match|Expected .* input|expected input|Given groups|shape .* is invalid|same device|to be on the same",
     "its forward does not run on these example_inputs; try model(*example_inputs) first"),
)


def _in_plain_words(module: torch.nn.Module, error: Exception) -> str:
    reason = next((reason for pattern, reason in _REASONS if re.search(pattern, str(error), re.IGNORECASE)),
                  "docs/guide/exporting.md has the errors that people meet")
    return f"torch.export cannot make a graph of {type(module).__name__}: {reason}. torch says: {first_line(error)}"


def _name_of_program(program: Any) -> str:
    """The class of the module that was exported, as its nodes remember."""
    for node in program.graph.nodes:
        stack = node.meta.get("nn_module_stack")
        if stack:
            kind = next(iter(stack.values()))[1]
            return str(kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2] or "exported"
    return "exported"


def _file_name(name: str) -> str:
    return (re.sub(r"[^\w.@-]", "_", name).lstrip(".-") or "module")[:80] + ".pt2"


def _save(program: Any, path: pathlib.Path) -> str:
    import torch
    with _in_silence():
        try:
            torch.export.save(without_weights(program), path, extra_files={"joulecast.json": json.dumps({"tied": _tied(program)})})
        except Exception:
            # Another torch keeps weights elsewhere: then the file is large for a moment.
            try:
                torch.export.save(program, path)
            except Exception as error:
                raise ExportError(f"torch.export.save cannot write the graph of {path.stem}: {first_line(error)}. Inputs and outputs of an exported "
                                  "program must be tensors, or lists, tuples and dicts of these") from error
    return str(path)


def _tied(program: Any) -> list[list[str]]:
    """Names of parameters that are one tensor: weights without storage do not tell."""
    names: dict[Any, list[str]] = {}
    for name, value in program.state_dict.items():
        storage = value.untyped_storage()
        place = (storage.data_ptr(), value.storage_offset(), tuple(value.shape)) if storage.data_ptr() else id(value)
        names.setdefault(place, []).append(name)
    return [same for same in names.values() if len(same) > 1]
