"""A model as it was written, for telling which of its nodes an engine's kernel does."""
import collections

# Give the same numbers in the same order another shape.
RENAMES = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"}


class Original:
    """The model as it was written. What is computed without any of the `inputs` is computed when the model is loaded."""

    def __init__(self, nodes, call_of_node, inputs):
        self.nodes, self.call_of_node = nodes, call_of_node
        self.inputs = set(inputs)
        varying, self.runs = set(inputs), []
        for node in nodes:
            self.runs.append(not varying.isdisjoint(node.input))
            varying.update(node.output if self.runs[-1] else ())
        self.maker = {name: number for number, node in enumerate(nodes) for name in node.output}
        self.by_name = {node.name: number for number, node in enumerate(nodes)}
        self.readers = collections.defaultdict(list)
        for number, node in enumerate(nodes):
            for name in node.input:
                self.readers[name].append(number)

    @classmethod
    def of(cls, writer):
        return cls(writer.nodes, writer.call_of_node, [item.name for item in writer.inputs])

    def between(self, results, known):
        """Numbers of the nodes that lead from the known values to the results, without those that were computed before the run."""
        found, left = set(), [self.maker[name] for name in results]
        while left:
            number = left.pop()
            if number in found:
                continue
            found.add(number)
            makers = [self.maker[name] for name in self.nodes[number].input if name in self.maker and name not in known]
            left += [maker for maker in makers if self.runs[maker]]
        return found

    def named(self, name):
        """The node that a fused node is called after, such as `3/MatMul.7/MatMulAddFusion`: the longest beginning that is one."""
        for end in range(len(name), 0, -1):
            if (end == len(name) or name[end] in "/_") and name[:end] in self.by_name:
                return self.by_name[name[:end]]
        return None

    def after(self, value, kind):
        """The result of the one node that reads the value, if it is of that kind; else the value itself."""
        readers = self.readers[value]
        return self.nodes[readers[0]].output[0] if len(readers) == 1 and self.nodes[readers[0]].op_type == kind else value

    def computes(self, numbers):
        return [number for number in numbers if self.nodes[number].op_type not in RENAMES]
