#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {
namespace {

/// Insertions, deletions and replacements that make one name the other (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Names that differ by a third of their letters at most, or that begin with what was asked; all names if none does.
std::string suggestion(const std::string& asked, const std::vector<std::string>& names) {
    constexpr std::size_t longest_name = 64;
    std::vector<std::string> near;
    for (const std::string& name : names)
        if (asked.size() <= longest_name &&
            (name.starts_with(asked) || distance(asked, name) <= std::max<std::size_t>(1, name.size() / 3)))
            near.push_back(name);
    if (!near.empty()) return "Did you mean " + joined(near) + "?";
    return names.empty() ? "The zoo is empty or missing" : "The zoo has " + joined(names);
}

}  // namespace

std::vector<std::string> zoo_names(const std::filesystem::path& zoo) {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(zoo, missing))
        if (entry.path().extension() == ".pt2") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

Graph open_model(const std::string& model, const std::filesystem::path& zoo, const SymbolValues& set) {
    const std::filesystem::path path = model;
    if (path.extension() == ".pt2") return read_pt2(path, set);
    if (path.extension() == ".onnx") return read_onnx(path, set);
    if (model.ends_with(".graph.json")) return read_graph_json(path, set);
    for (const char* suffix : {".pt", ".pth", ".safetensors", ".json"})
        if (model.ends_with(suffix))
            throw Error("cannot read " + model + ": " + suffix + " is not supported yet. Supported: .pt2 of " +
                        "torch.export, .onnx, .graph.json, and the names of the zoo (" + joined(zoo_names(zoo)) + ")");
    const std::vector<std::string> names = zoo_names(zoo);
    if (const std::size_t at = model.find('@'); at != std::string::npos)
        throw Error("there is no network \"" + model + "\": the zoo has one size of each network yet. Leave out \"" +
                    model.substr(at) + "\" or export the network at that size");
    if (std::ranges::binary_search(names, model)) return read_pt2(zoo / (model + ".pt2"), set);
    throw Error("there is no network \"" + model + "\". " + suggestion(model, names));
}

}  // namespace joulecast
