#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/tensor_type.h"

/// torch.export's words in joulecast's.
namespace joulecast::pt2 {

/// The type of torch's ScalarType number; FormatError names a number that joulecast does not know.
Dtype required_dtype(std::int64_t code);

/// A name of the file as messages show it: printable, 200 characters at most.
std::string shown(std::string_view name);

/// "torch.ops.aten.conv2d.default" is aten::conv2d, "torch.ops.aten.add.Tensor" aten::add.Tensor,
/// "torch.ops.higher_order.cond" higher_order::cond, "_operator.mul" operator::mul. FormatError for what is no name.
std::string target_of(const std::string& python);

/// "L__self__,,Net;L__self___conv1,conv1,torch.nn.Conv2d": the deepest module's dotted path, without the "@1" that
/// counts repeated calls.
std::string module_path_of(const std::string& stack);

/// The last `File "net.py", line 17, in forward` of a Python stack trace as "net.py:17"; empty if there is none.
std::string source_line_of(const std::string& trace);

}  // namespace joulecast::pt2
