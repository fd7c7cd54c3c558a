"""Operations and graphs as modules of Relax, over ONNX, with the number of the graph's call kept in the name of each value."""
import contextlib
import sys
import warnings

import tvm
from onnx import ModelProto
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator
from tvm.relax.frontend.onnx.onnx_frontend import ONNXGraphImporter

from joulecast_measuring.requests import Unsupported
from joulecast_onnxruntime.writer import OPSET

# Names of values: `call3_2` is the second value that call 3 makes.
PREFIX = "call"


def call_of(name):
    """The number of the call whose value has this name; None for values that passes of TVM made."""
    number = name.removeprefix(PREFIX).partition("_")[0]
    return int(number) if name.startswith(PREFIX) and number.isdigit() else None


class Importer(ONNXGraphImporter):
    """Binds what each node makes before the next one is read, so that it is known which values belong to which call."""

    def __init__(self, call_of_node):
        super().__init__({}, "float32")
        self.call_of_node, self.last_of_call = call_of_node, {}

    def _convert_operator(self, op_name, inputs, attrs, opset):
        made = super()._convert_operator(op_name, inputs, attrs, opset)
        call = self.call_of_node[attrs["tvm_custom"]["name"]]
        if isinstance(made, relax.Tuple):
            return relax.Tuple([self.bound(field, call) for field in made.fields])
        return self.bound(made, call)

    def bound(self, value, call):
        if isinstance(value, (relax.Call, relax.TupleGetItem)):
            value = self.bb.emit(value)
        if isinstance(value, relax.Var):
            self.last_of_call[value] = call
        return value


@mutator
class Renamed(PyExprMutator):
    """The function with the names given to its values, in the order in which they are bound."""

    def __init__(self, names):
        super().__init__()
        self.names = iter(names)

    def visit_var_binding_(self, binding):
        value = self.visit_expr(binding.value)
        kind = relax.DataflowVar if isinstance(binding.var, relax.DataflowVar) else relax.Var
        named = kind(next(self.names), binding.var.ty)
        self.builder_.emit_normalized(relax.VarBinding(named, value))
        self.set_var_remap(binding.var, named)


def bindings(function):
    return [binding for block in function.body.blocks for binding in block.bindings]


def calls_in_order(function, last_of_call):
    """Of each value that the function binds, the call that it belongs to: a call's last value is known, and what was bound since the one
    before it is part of it."""
    found, pending, last = [], 0, 0
    for binding in bindings(function):
        pending += 1
        if (call := last_of_call.get(binding.var)) is not None:
            found += [call] * pending
            pending, last = 0, call
    return found + [last] * pending


def module_of(model: ModelProto, call_of_node):
    """The module of a model; `call_of_node` has the call of each node by its name. What TVM's importer cannot do is Unsupported."""
    importer = Importer(call_of_node)
    try:
        with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each renamed value is one
            module = importer.from_onnx(model.graph, OPSET)
    except Exception as error:
        raise Unsupported(f"TVM's importer of ONNX: {error}") from None
    counts, names = {}, []
    for call in calls_in_order(module["main"], importer.last_of_call):
        counts[call] = counts.get(call, 0) + 1
        names.append(f"{PREFIX}{call}_{counts[call]}")
    return tvm.IRModule({**dict(module.functions), module.get_global_var("main"): Renamed(names).visit_expr(module["main"])})
