// Input: a .pt2 file, or, if it begins with '{', the model JSON inside of one: mutations of a zip seldom get past its
// checksums, so the JSON is wrapped here.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/stored_zip.h"

namespace {

/// What is accepted must also be usable: counted, written and read back.
void use(const joulecast::Graph& graph) {
    for (const auto& [operation, count] : joulecast::count_operations(graph)) joulecast::forward_counts(operation);
    const std::string json = joulecast::graph_to_json(graph);
    joulecast::graph_from_json(json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string zip =
        text.starts_with('{') ? joulecast::testing::stored_zip("net/models/model.json", text) : std::string(text);
    try {
        use(joulecast::read_pt2(std::as_bytes(std::span(zip)), "fuzz.pt2", {{"u0", 4}}));
    } catch (const joulecast::Error&) {
        return 0;
    }
    return 0;
}
