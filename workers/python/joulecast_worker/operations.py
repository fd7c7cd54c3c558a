"""Calls of one operation, over different tensors in turn. The rules are those of the C++ worker (docs/worker-protocol.md)."""
import collections
import itertools

import torch

from joulecast_worker.calls import fill, flat, written

LARGEST_GROUP = 16
# Bytes of one group of calls in training: beyond it the start of the autograd engine no longer shows.
GROUP_BYTES = 16 << 20
# Calls on the same written-to tensors before they get their first contents back.
CALLS_PER_RESTORE = 8


def byte_count(tensors):
    return sum(tensor.nbytes for tensor in tensors if tensor is not None)


class Inference:
    """Calls without gradients, under inference_mode."""

    def __init__(self, function, ready, restore):
        self.function = function
        self.ready = ready
        self.restore = restore
        self.rotation = len(ready)
        self.next = 0

    def run(self, calls, hot):
        function = self.function
        ready = self.ready[:1] if hot else self.ready[self.next:] + self.ready[:self.next]
        with torch.inference_mode():
            for positional, keywords in itertools.islice(itertools.cycle(ready), calls):
                function(*positional, **keywords)
        if not hot:
            self.next = (self.next + calls) % self.rotation

    def prepare(self, calls, hot):
        if self.restore is None:
            return
        with torch.no_grad():
            for i in range(1 if hot else min(calls, self.rotation)):
                self.restore(0 if hot else (self.next + i) % self.rotation)

    def longest_run(self, hot):
        return None if self.restore is None else CALLS_PER_RESTORE * (1 if hot else self.rotation)


class Training:
    """Calls in grad mode: forward alone, or forward and then torch.autograd.grad to all marked tensors, small calls in groups."""

    def __init__(self, function, template, request, backward):
        self.function = function
        self.template = template
        self.sets = request["sets"]
        self.mutates = request["mutates"]
        self.writable_copy = request["writable_copy"]
        self.backward = backward
        self.rotation = len(self.sets)
        self.next = 0
        size = max(1, byte_count(self.sets[0]))
        self.group = max(1, min(GROUP_BYTES // size, LARGEST_GROUP, self.rotation))
        self.size = size
        self.keep_bytes = size * self.rotation
        self.kept = collections.deque()
        self.kept_bytes = 0
        self.gradient_of, self.gradients = [], []
        self.rotating, self.hot, self.copies = [], [], []
        if not self.mutates:
            self.rotating = [self.ready(tensors, tensors) for tensors in self.sets]
            for _ in range(self.group):
                aliases = [tensor.detach().requires_grad_(tensor.requires_grad) for tensor in self.sets[0]]
                self.hot.append(self.ready(aliases, aliases))
        if backward:
            self.probe(request["normal_like"])

    def ready(self, tensors, leaves):
        positional, keywords = fill(self.template, tensors)
        return positional, keywords, [tensor for tensor in leaves if tensor.requires_grad]

    def probe(self, normal_like):
        """One call to learn which results carry a gradient, and to make the gradients that will enter there."""
        with torch.enable_grad():
            positional, keywords, _ = self.ready(self.writable_copy(0), self.sets[0])
            for i, result in enumerate(flat(self.function(*positional, **keywords))):
                if result.requires_grad:
                    self.gradient_of.append(i)
                    self.gradients.append(normal_like(result))

    def keep(self, results):
        """Results of the last calls stay alive, as in a network."""
        size = byte_count(results)
        if 3 * size >= self.keep_bytes:
            return
        self.kept_bytes += size
        self.kept.append((size, results))
        while self.kept_bytes > self.keep_bytes and len(self.kept) > 1:
            self.kept_bytes -= self.kept.popleft()[0]

    def run_group(self, ready, hot):
        function = self.function
        outputs, inputs, gradients = [], [], []
        for positional, keywords, marked in ready:
            result = function(*positional, **keywords)
            results = [result] if isinstance(result, torch.Tensor) else flat(result)
            if not self.backward or not self.gradients:
                if not hot:
                    self.keep(results)
                continue
            outputs += [results[i] for i in self.gradient_of]
            gradients += self.gradients
            inputs += marked
        if not outputs:
            return
        results = torch.autograd.grad(outputs, inputs, gradients, allow_unused=True)
        if not hot:
            self.keep([tensor if tensor is None else tensor.detach() for tensor in (*results, *outputs)])

    def run(self, calls, hot):
        source = self.copies if self.mutates else self.hot if hot else self.rotating
        start = 0 if self.mutates or hot else self.next
        with torch.enable_grad():
            for done in range(0, calls, self.group):
                size = min(self.group, calls - done)
                self.run_group([source[(start + done + i) % len(source)] for i in range(size)], hot)
        if not hot:
            self.next = (self.next + calls) % self.rotation

    def prepare(self, calls, hot):
        if not self.mutates:
            return
        self.copies = []
        for i in range(calls):
            index = 0 if hot else (self.next + i) % self.rotation
            self.copies.append(self.ready(self.writable_copy(index), self.sets[index]))

    def longest_run(self, hot):
        if not self.mutates:
            return None
        return self.group if hot else max(1, min(GROUP_BYTES // self.size, self.rotation))


class Operation:
    """The workloads of a trial: `whole`, and in training `forward`."""

    def __init__(self, request):
        function, *template = written(request["target"], request["arguments"], request["sets"][0])
        self.function = function
        self.forward = None
        if request["training"]:
            self.whole = Training(function, template, request, True)
            self.forward = Training(function, template, request, False)
        else:
            ready = [fill(template, tensors) for tensors in request["sets"]]
            self.whole = Inference(function, ready, request["restore"] if request["mutates"] else None)


def operation(request):
    return Operation(request)
