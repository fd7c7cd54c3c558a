"""How Python code writes a call of an ATen operation.

Model code says `x + y`, `torch.nn.functional.relu(x)` or `torch.cat(...)`, not `torch.ops.aten.relu.default(x)`, which takes several times
as long to get through. So the first of these that does the same is taken: an operator, `torch.nn.functional`, `torch`, a method of the
tensor, `torch.ops`. Whether it does the same is found out, not believed: both are called, and below them the dispatcher has to see the same
operations with the same arguments.
"""
import inspect
import operator
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "matmul": operator.matmul,
             "neg": operator.neg, "add_": operator.iadd, "mul_": operator.imul}
# What torch.nn.functional calls the arguments of the schema.
ALIASES = {"self": "input", "train": "training", "indices": "input"}
# Arguments of the schema that Python fills in by itself.
FILLED_IN = {"cudnn_enabled", "cudnn_enable", "generator"}


class Slot(int):
    """Stands for the tensor of that number in the arguments of a call."""


def overload(target):
    """`aten::add.Tensor` as the callable of torch.ops."""
    namespace, _, rest = target.partition("::")
    name, _, overload_name = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload_name or "default")


def is_default(schema_argument, value):
    return (schema_argument.has_default_value() and type(schema_argument.default_value) is type(value)
            and schema_argument.default_value == value)


def spelled(given, values, keywords):
    """Positional arguments up to the last one that is not the default, then keywords."""
    positional = [(argument, value) for argument, value in zip(given, values) if not argument.kwarg_only]
    while positional and is_default(*positional[-1]):
        positional.pop()
    named = {argument.name: value for argument, value in zip(given, values) if argument.kwarg_only and not is_default(argument, value)}
    return [value for _, value in positional], named | keywords


def functional(function, given, values):
    """The arguments as a Python function of torch.nn.functional names them, or None where it lacks one."""
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    first, named = [], {}
    for argument, value in zip(given, values):
        if is_default(argument, value) or argument.name in FILLED_IN:
            continue
        name = argument.name
        if name not in parameters and not takes_all:
            name = ALIASES.get(name, name)
            if name not in parameters:
                return None
        if not first and not named and (takes_all or name == next(iter(parameters))):
            first.append(value)
        else:
            named[name] = value
    return first, named


def spellings(target, values):
    """(function, positional, keywords) of each way to write the call, best first; the last is torch.ops."""
    direct = overload(target)
    given = direct._schema.arguments
    name = target.partition("::")[2].partition(".")[0]
    positional, keywords = spelled(given, values, {})
    if target.startswith("aten::"):
        if name in OPERATORS and not keywords and len(positional) in (1, 2):
            yield OPERATORS[name], positional, {}
        function = getattr(torch.nn.functional, name, None)
        if isinstance(function, types.FunctionType):
            arguments = functional(function, given, values)
            if arguments:
                yield function, *arguments
        elif callable(function):
            yield function, positional, keywords
        function = getattr(torch, name, None)
        if callable(function):
            yield function, positional, keywords
        function = getattr(torch.Tensor, name, None)
        if callable(function) and positional and isinstance(positional[0], Slot):
            yield function, positional, keywords
    yield direct, positional, keywords


def fill(template, tensors):
    """The template with tensors for slots."""
    if isinstance(template, Slot):
        return tensors[template]
    if isinstance(template, (list, tuple)):
        return type(template)(fill(item, tensors) for item in template)
    if isinstance(template, dict):
        return {name: fill(item, tensors) for name, item in template.items()}
    return template


class Recorder(TorchDispatchMode):
    """Writes down what the dispatcher sees below a call."""

    def __init__(self, tensors):
        super().__init__()
        self.number = {id(tensor): index for index, tensor in enumerate(tensors)}
        self.seen = []

    def leaf(self, value):
        if isinstance(value, torch.Tensor):
            return self.number.get(id(value), (value.dtype, tuple(value.shape)))
        return type(value), str(value)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.seen.append((str(function), [self.leaf(value) for value in tree_flatten((args, kwargs))[0]]))
        return function(*args, **kwargs)


def recorded(function, positional, keywords, tensors):
    # The call may write to its tensors: those of the trial stay as they are.
    copies = [tensor.detach().clone() for tensor in tensors]
    with torch.no_grad(), Recorder(copies) as recorder:
        function(*fill(positional, copies), **fill(keywords, copies))
    return recorder.seen


def written(target, values, tensors):
    """(function, positional, keywords) of the call as Python code writes it, tried on these tensors. Raises what torch raises if the call
    cannot be made at all."""
    *others, direct = spellings(target, values)
    expected = recorded(*direct, tensors)
    for spelling in others:
        try:
            if recorded(*spelling, tensors) == expected:
                return spelling
        except (TypeError, ValueError, RuntimeError, NotImplementedError, AttributeError):
            continue
    return direct


def flat(result):
    """The tensors of a result, lists taken apart."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for item in result for tensor in flat(item)]
    return []
