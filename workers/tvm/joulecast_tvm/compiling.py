"""Modules of Relax through TVM's own passes for CPUs, tuned or not."""
import contextlib
import math
import sys
import tempfile

import tvm
from tvm import relax
from tvm.relax import transform
from tvm.relax.backend.cpu_generic import pipeline

from joulecast_tvm.importing import bindings


def target():
    """This CPU. Work of one thread: MetaSchedule asks for the number."""
    return tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")(), "num-cores": 1})


def sequence(passes, module, target):
    with target:
        return tvm.transform.Sequential(passes)(module)


def grouped(module, target):
    """(the module with a kernel for each step, the same with steps grouped into kernels): the first passes of cpu_generic.pipeline."""
    before = sequence([relax.backend.DispatchSampling(), relax.backend.DispatchSortScan(), transform.LegalizeOps(),
                       transform.AnnotateTIROpPattern(), transform.FoldConstant()], module, target)
    return before, sequence([transform.FuseOps()], before, target)


def tuned(module, target, trials):
    """Its kernels as the best of so many trials of MetaSchedule over all of them."""
    with target, tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        return sequence([transform.MetaScheduleTuneIRMod(params={}, work_dir=folder, max_trials_global=trials),
                         transform.MetaScheduleApplyDatabase(folder)], module, target)


def stored_bytes(function):
    """Of the results of a function's steps, as TVM plans them ahead: tensors that are not alive at once share a storage."""
    total = 0
    for binding in bindings(function):
        value = binding.value
        if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op):
            if value.op.name == "relax.memory.alloc_storage":
                total += int(value.args[0].values[0])
            elif value.op.name == "relax.builtin.alloc_tensor":  # results of the function
                total += math.prod(int(size) for size in value.args[0].values) * tensor_bytes(binding.var.ty.dtype)
    return total


def tensor_bytes(dtype):
    return (int(dtype.bits) * int(dtype.lanes) + 7) // 8 if hasattr(dtype, "bits") else 4


class Compiled:
    """A machine that runs the grouped module; `bytes` are those of the results of its steps."""

    def __init__(self, module, target, trials):
        module = sequence([transform.FuseTIR()], module, target)
        if trials:
            module = tuned(module, target, trials)
        module = sequence([*pipeline.dataflow_lower_passes(target), transform.StaticPlanBlockMemory()], module, target)
        self.bytes = float(stored_bytes(module["main"]))
        module = sequence(pipeline.finalize_passes(target)[1:], module, target)
        made = tvm.compile(module, target=target, relax_pipeline=None)
        self.run = relax.VirtualMachine(made, tvm.cpu())["main"]
