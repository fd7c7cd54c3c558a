"""What a call of an ATen operation becomes in Python, and that it does the same."""
import operator
import unittest

import torch

from joulecast_worker.calls import Slot, recorded, written


def call(target, values, *tensors):
    return written(target, values, tensors)


class Spelling(unittest.TestCase):
    def test_a_sum_is_an_operator(self):
        function, positional, keywords = call("aten::add.Tensor", [Slot(0), Slot(1), 1], torch.ones(3), torch.ones(3))
        self.assertIs(function, operator.add)
        self.assertEqual((positional, keywords), ([Slot(0), Slot(1)], {}))

    def test_a_sum_with_a_factor_is_not(self):
        function, _, keywords = call("aten::add.Tensor", [Slot(0), Slot(1), 2], torch.ones(3), torch.ones(3))
        self.assertIsNot(function, operator.add)
        self.assertEqual(keywords, {"alpha": 2})

    def test_layers_are_the_functions_that_modules_call(self):
        weight, image = torch.randn(4, 3, 3, 3), torch.randn(1, 3, 8, 8)
        function, positional, _ = call("aten::conv2d", [Slot(0), Slot(1), None, [1, 1], [1, 1], [1, 1], 1], image, weight)
        self.assertIs(function, torch.nn.functional.conv2d)
        self.assertEqual(positional, [Slot(0), Slot(1), None, [1, 1], [1, 1]])  # what follows is the default
        self.assertIs(call("aten::relu", [Slot(0)], torch.randn(4))[0], torch.nn.functional.relu)

    def test_arguments_in_another_order_are_told_apart(self):
        # The schema has (input, weight, bias, mean, variance), torch.nn.functional (input, mean, variance, weight, bias).
        function, positional, keywords = call(
            "aten::batch_norm", [Slot(0), Slot(1), Slot(2), Slot(3), Slot(4), False, 0.1, 1e-5, True],
            torch.randn(2, 3, 4, 4), torch.ones(3), torch.zeros(3), torch.zeros(3), torch.ones(3))
        self.assertIs(function, torch.nn.functional.batch_norm)
        self.assertEqual(keywords["running_mean"], Slot(3))
        self.assertEqual(keywords["weight"], Slot(1))

    def test_a_function_of_the_same_name_that_does_something_else_is_not_taken(self):
        # torch.nn.functional.embedding has (input, weight), the schema (weight, indices).
        table, indices = torch.randn(10, 4), torch.tensor([1, 2])
        function, positional, keywords = call("aten::embedding", [Slot(0), Slot(1), -1, False, False], table, indices)
        seen = recorded(function, positional, keywords, (table, indices))
        self.assertEqual(seen, recorded(torch.ops.aten.embedding.default, [Slot(0), Slot(1)], {}, (table, indices)))

    def test_the_tensors_of_the_trial_are_not_written_to(self):
        tensor = torch.full((3,), -1.0)
        call("aten::relu_", [Slot(0)], tensor)
        self.assertEqual(tensor.tolist(), [-1.0, -1.0, -1.0])

    def test_what_cannot_be_called_raises_what_torch_raises(self):
        with self.assertRaisesRegex(RuntimeError, "shapes|size"):
            call("aten::matmul", [Slot(0), Slot(1)], torch.ones(8, 3), torch.ones(5, 8))


if __name__ == "__main__":
    unittest.main()
