"""Modules of Relax through TVM's own passes for CPUs, tuned or not."""
import contextlib
import math
import sys
import tempfile

import tvm
from tvm import relax
from tvm.s_tir.meta_schedule import relax_integration
from tvm.s_tir.meta_schedule.builder import LocalBuilder
from tvm.s_tir.meta_schedule.database import MemoryDatabase
from tvm.s_tir.meta_schedule.runner import LocalRunner
from tvm.relax import transform
from tvm.relax.backend.cpu_generic import pipeline

from joulecast_measuring.requests import Unsupported
from joulecast_tvm.importing import bindings

# Of building or running one trial. Builders are processes of their own, which take a minute to start on a busy machine.
PATIENCE_S = 600.0


def sequence(passes, module, target):
    with target:
        return tvm.transform.Sequential(passes)(module)


def grouped(module, target):
    """(the module with a kernel for each step, the same with steps grouped into kernels): the first passes of cpu_generic.pipeline."""
    before = sequence([relax.backend.DispatchSampling(), relax.backend.DispatchSortScan(), transform.LegalizeOps(),
                       transform.AnnotateTIROpPattern(), transform.FoldConstant()], module, target)
    return before, sequence([transform.FuseOps()], before, target)


class Tuner:
    """Tunes each different kernel once, with so many trials of MetaSchedule; what it has found holds for later modules."""

    def __init__(self, trials):
        self.trials, self.database = trials, MemoryDatabase()

    def untuned(self, tasks, target):
        return sum(self.database.query_tuning_record(task.dispatched[0], target, task.task_name) is None for task in tasks)

    def tuned(self, module, target):
        """(the module with the best schedule of each kernel, what is to be said of it)."""
        with target, contextlib.redirect_stdout(sys.stderr):
            tasks = relax_integration.extract_tasks(module, target, {})
            if self.untuned(tasks, target):
                self.tune(module, target, len(tasks))
            message = what_is_untuned(self.untuned(tasks, target), len(tasks), self.trials)
            with self.database:
                return sequence([transform.MetaScheduleApplyDatabase()], module, target), message

    def tune(self, module, target, tasks):
        with tempfile.TemporaryDirectory() as folder:
            relax_integration.tune_relax(module, {}, target, folder, max_trials_global=self.trials * tasks,
                                         max_trials_per_task=self.trials, num_trials_per_iter=min(self.trials, 64), seed=1,
                                         builder=LocalBuilder(max_workers=1, timeout_sec=PATIENCE_S),
                                         runner=LocalRunner(timeout_sec=PATIENCE_S), database=self.database)


def what_is_untuned(missing, tasks, trials):
    """Raises Unsupported where nothing is tuned: it must not be measured as if it were."""
    if missing and missing == tasks:
        raise Unsupported(f"MetaSchedule could run none of {trials} trials for any kernel; its messages are on standard error")
    return f"{missing} of {tasks} kernels run untuned: none of {trials} trials of MetaSchedule ran" if missing else ""


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
    """A machine at a place that runs the grouped module; `bytes` are those of the results of its steps, `message` what is to be
    said of it."""

    def __init__(self, module, target, place, tuner=None):
        module = sequence([transform.FuseTIR()], module, target)
        self.message = ""
        if tuner:
            module, self.message = tuner.tuned(module, target)
        module = sequence([*pipeline.dataflow_lower_passes(target), transform.StaticPlanBlockMemory()], module, target)
        self.bytes = float(stored_bytes(module["main"]))
        module = sequence(pipeline.finalize_passes(target)[1:], module, target)
        self.run = place.loaded(tvm.compile(module, target=target, relax_pipeline=None))
