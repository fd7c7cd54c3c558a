#include "joulecast/graph/readers/onnx_names.h"

#include <vector>

namespace joulecast::onnx {

std::string module_path_of_name(std::string_view node_name) {
    if (!node_name.starts_with('/')) return {};
    std::string path;
    std::string_view previous;
    for (std::size_t start = 1;;) {
        const std::size_t end = node_name.find('/', start);
        if (end == std::string_view::npos) return path;  // the last part is the operator's
        std::string_view part = node_name.substr(start, end - start);
        start = end + 1;
        if (part.empty()) continue;
        // A child of a ModuleList or Sequential repeats its parent's name: layer1/layer1.0.
        const bool repeats = part.size() > previous.size() && part.starts_with(previous) &&
                             part[previous.size()] == '.' && !previous.empty();
        const std::string_view added = repeats ? part.substr(previous.size() + 1) : part;
        path += (path.empty() ? "" : ".") + std::string(added);
        previous = part;
    }
}

std::string module_path_of_scopes(std::string_view scopes) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at < scopes.size();) {
        const std::size_t open = scopes.find_first_of("'\"", at);
        if (open == std::string_view::npos) break;
        const std::size_t close = scopes.find(scopes[open], open + 1);
        if (close == std::string_view::npos) break;
        parts.push_back(scopes.substr(open + 1, close - open - 1));
        at = close + 1;
    }
    return parts.size() < 2 ? std::string() : std::string(parts[parts.size() - 2]);
}

}  // namespace joulecast::onnx
