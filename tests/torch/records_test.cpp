// Every operation that has a record can be measured: its tensors are filled with values that it takes.

#include <fstream>
#include <set>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/graph/record.h"
#include "workers/torch/call.h"
#include "workers/torch/content.h"
#include "workers/torch/tensors.h"

namespace joulecast::torch_worker {
namespace {

/// Calls of tests/graph/records.txt, one line each, without what follows the arrow.
std::vector<std::string> calls() {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/graph/records.txt");
    std::vector<std::string> found;
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("aten::")) found.push_back(line.substr(0, line.rfind(" ->")));
    }
    return found;
}

void run(TensorMaker& maker, const Operation& operation) {
    const at::NoGradGuard no_grad;
    const Call call(operation);
    const std::vector<Content> wanted = contents(operation);
    const auto types = tensors(operation);
    std::vector<at::Tensor> made;
    for (std::size_t i = 0; i < types.size(); ++i) made.push_back(maker.make(*types[i], wanted[i]));
    Stack stack = call.stack(made);
    call.issue(stack);
}

/// The CPU has no kernel for the first; the next need positive definite matrices, which no rule fills in.
bool cannot_run_here(const std::string& text) {
    for (const std::string_view word :
         {"_flash_attention(", "_flash_attention_backward(", "_efficient_", "_cudnn_", "_overrideable",
          "_fused_rms_norm_backward", "aten::cholesky(", "aten::linalg_cholesky("}) {
        if (text.find(word) != std::string::npos) return true;
    }
    return false;
}

TEST(Records, CanAllBeMeasured) {
    // An operation counts as measurable when one of its calls runs; meta tensors accept much that no kernel does.
    TensorMaker maker(7);
    std::set<std::string> failed;
    std::set<std::string> ran;
    for (const std::string& text : calls()) {
        const Operation operation = parse_operation(text);
        const bool runs = find_record(operation.target)->family != Family::symbolic && !cannot_run_here(text);
        if (!runs || ran.contains(operation.target)) continue;
        try {
            run(maker, operation);
            ran.insert(operation.target);
            failed.erase(operation.target);
        } catch (const std::exception& error) {
            // An older torch does not know them all.
            if (std::string_view(error.what()).find("has no operation") != std::string_view::npos) continue;
            failed.insert(operation.target);
            std::cout << text << "\n    " << std::string(error.what()).substr(0, 200) << "\n";
        }
    }
    EXPECT_THAT(failed, ::testing::IsEmpty());
}

}  // namespace
}  // namespace joulecast::torch_worker
