#include "joulecast/graph/strides.h"

#include <gtest/gtest.h>

#include <fstream>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

std::string text_of(const std::vector<TensorType>& types) {
    std::string text;
    for (const TensorType& type : types) {
        const std::string call = signature({"f", {{"x", type}}});
        text += (text.empty() ? "" : " ") + call.substr(4, call.size() - 5);
    }
    return text;
}

/// What the record says; "refused" where it refuses.
std::string computed(const Operation& operation) {
    try {
        return text_of(find_record(operation.target)->outputs(operation));
    } catch (const FormatError&) {
        return "refused";
    }
}

// The file is what torch returned on the CPU, written by tools/make_stride_samples.py.
TEST(Strides, AreThoseThatTorchGives) {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/graph/data/strides.txt");
    std::string line;
    int checked = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t arrow = line.find(" -> ");
        ASSERT_NE(arrow, std::string::npos) << line;
        const Operation operation = parse_operation(line.substr(0, arrow));
        ASSERT_NE(find_record(operation.target), nullptr) << line;
        EXPECT_EQ(signature(operation), line.substr(0, arrow));
        EXPECT_EQ(computed(operation), line.substr(arrow + 4)) << line;
        ++checked;
    }
    EXPECT_GT(checked, 1000);
}

}  // namespace
}  // namespace joulecast
