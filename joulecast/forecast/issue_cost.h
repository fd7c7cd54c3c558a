#pragma once

#include <string_view>

#include "joulecast/forecast/prepared_operation.h"
#include "joulecast/graph/record.h"

namespace joulecast {

struct Unseen;

/// What Python takes more than C++ for a call, views too: interpreter, module and dispatch. In inference fitted to
/// eleven networks on an AMD EPYC with torch 2.13 (docs/python.md, 7.9 us); 24 networks that waited for their host on
/// an H100's and an H200's machine take 4 to 19 us, 10 in the median. In training 9.9 us on that EPYC, which computes
/// where it issues; beside a GPU 15 to 85 us, 38 in the median of sixteen (docs/decisions/0046): autograd's thread,
/// parameters' gradients.
double python_call_s(Mode mode, Device::Kind kind);

/// Over what these times are: a host whose CPU nobody named is as old as its card. Networks that EnergAIzer ran from
/// Python on an A10 and an A100, and that waited for their host, took 1.58 to 1.65 times as long as these say, BERT,
/// GPT-2, OPT and Qwen alike; cards that came out before 2022 therefore take 1.5 times as long. 1 for an unknown year.
double pace_of_age(const Device& device);

/// The same, or what the hosts of those devices took that the model was trained on, where that was timed.
double pace_of_hosts(const Unseen& model, const Device& device);

/// The CPU that these times are taken for where another one is named: of the three machines no more is known than that
/// they have 16 cores of an Intel Xeon beside an H100 or H200.
inline constexpr std::string_view cpu_of_issue_costs = "xeon-platinum-8480";

/// What the host takes to issue a call from C++ on a GPU that was never measured, in seconds. Issuing was timed apart
/// for 1,800 operations on three machines, an H100's and two H200's (datasets/README.md), which agree within a third
/// for most kinds; means of the machines' medians in us:
///
///     convolution 22, transposed 27    attention 18              softmax, creation 7
///     batch and group norm 22          linear 18, fp8 22         element-wise 7.3
///     rms norm 13, layer norm 12       other products 14         other kernels 8.5
///     looking up 12                    copies, pooling 8         views 1
///
/// In training 29 us for each gradient that is computed and 20 us for a view's way back, fitted to five networks.
double issue_from_cpp_s(const PreparedOperation& call, const Device& device);

}  // namespace joulecast
