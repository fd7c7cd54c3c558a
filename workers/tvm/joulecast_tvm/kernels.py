"""What TVM made of a network: which kernels do which of its calls.

Passes that group calls into kernels forget the names of values, and equal kernels are one function. So a grouped function is walked beside
the one before: what each kernel does inside, with its arguments put in, is looked up there, where values still have names.
"""
import collections

import tvm
from tvm import relax

from joulecast_tvm.importing import bindings, call_of

# Only another shape for the same memory: TVM lowers them to views.
VIEWS = ("reshape", "squeeze", "flatten", "expand_dims")


def callee(value):
    """The name of what a value calls; empty where it calls nothing that was compiled."""
    if not isinstance(value, relax.Call):
        return ""
    if isinstance(value.op, tvm.ir.GlobalVar):
        return value.op.name_hint
    is_compiled = isinstance(value.op, tvm.ir.Op) and value.op.name == "relax.call_tir"
    return value.args[0].name_hint if is_compiled else str(value.op)


def is_view(name):
    return name.rstrip("0123456789") in VIEWS


def operands(value):
    """The values that an expression reads, tuples taken apart."""
    if isinstance(value, relax.Tuple):
        return [item for field in value.fields for item in operands(field)]
    if isinstance(value, relax.TupleGetItem):
        return operands(value.tuple_value)
    if isinstance(value, relax.Call):
        return [item for argument in value.args if isinstance(argument, relax.Expr) for item in operands(argument)]
    return [value] if isinstance(value, relax.Var) else []


class Walk:
    """Through a grouped function; `before` is the function with a kernel for each step."""

    def __init__(self, before):
        self.places = collections.defaultdict(collections.deque)
        for binding in bindings(before):
            self.places[self.key(binding.value, {})].append(binding.var)

    @staticmethod
    def key(value, known):
        index = value.index if isinstance(value, relax.TupleGetItem) else -1
        read = [known.get(item, item) for item in operands(value)]
        return (type(value).__name__, index, callee(value), *(item.name for item in read if isinstance(item, relax.Var)))

    def named(self, value, known):
        """The value of the function before that is computed alike from the same values; None where there is none."""
        places = self.places.get(self.key(value, known))
        if not places:
            return None
        return places.popleft() if len(places) > 1 else places[0]

    def calls_within(self, kernel, arguments, known):
        """(calls that the kernel does, the value that it makes)."""
        # Constants stand for no value in a key, handed over or not.
        inner = {parameter: known.get(argument, argument) for parameter, argument in zip(kernel.params, arguments)}
        found, last = set(), None
        for binding in bindings(kernel):
            last = self.named(binding.value, inner)
            inner[binding.var] = last if last is not None else binding.var
            if last is not None and callee(binding.value) and not is_view(callee(binding.value)):
                found.add(call_of(last.name))
        return found - {None}, last


def kernels(before, after):
    """`kernels` of the protocol: of each kernel of `after`, in its order, the name and the numbers of the calls that it does. `before` is the
    module from which TVM's grouping made `after`."""
    walk, known, found = Walk(before["main"]), {}, []
    for binding in bindings(after["main"]):
        value, name = binding.value, callee(binding.value)
        if name and isinstance(value.op, tvm.ir.GlobalVar):
            calls, last = walk.calls_within(after[value.op], value.args, known)
        else:
            last = walk.named(value, known)
            calls = {call_of(last.name)} - {None} if last is not None and not is_view(name) else set()
        if last is not None:
            known[binding.var] = last
        if name and not (is_view(name) and not calls):
            found.append({"kernel": name, "operations": sorted(calls)})
    return found
