#include <algorithm>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/graph/fold.h"
#include "joulecast/graph/readers/archive.h"
#include "joulecast/graph/readers/pt2_program.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {
namespace {

/// The zoo's largest model has 3 MB; one of 64 MB, some 60,000 calls with stack traces, takes 400 MB to read.
constexpr std::size_t most_model_bytes = std::size_t{64} << 20U;
constexpr std::size_t most_note_bytes = std::size_t{1} << 20U;
/// About 400 bytes for each weight.
constexpr std::size_t most_weights_bytes = std::size_t{16} << 20U;

/// True for "tail" itself and for ".../tail".
bool ends_in(std::string_view path, std::string_view tail) {
    return path.ends_with(tail) && (path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/');
}

std::optional<std::size_t> find_entry(const Archive& archive, std::string_view tail) {
    for (std::size_t i = 0; i < archive.entries().size(); ++i)
        if (ends_in(archive.entries()[i], tail)) return i;
    return std::nullopt;
}

/// The entry with the model: <root>/models/<name>.json from torch 2.8 on, one file at the top before.
std::size_t model_entry(const Archive& archive) {
    std::vector<std::size_t> models;
    for (std::size_t i = 0; i < archive.entries().size(); ++i) {
        const std::string_view entry = archive.entries()[i];
        const std::size_t slash = entry.rfind('/');
        if (entry.ends_with(".json") && slash != std::string_view::npos && ends_in(entry.substr(0, slash), "models"))
            models.push_back(i);
    }
    if (models.size() == 1) return models[0];
    if (const auto entry = find_entry(archive, "models/model.json")) return *entry;
    if (const auto entry = find_entry(archive, "serialized_exported_program.json")) return *entry;
    const std::string file = "cannot read " + archive.name() + ": ";
    if (!models.empty()) throw FormatError(file + "it holds several models, none of them called model");
    throw FormatError(file + "it holds no exported program. Write it by torch.export.save(torch.export.export(...)), " +
                      "not by torch.save");
}

/// data/weights/<model>_weights_config.json, from torch 2.8 on.
std::optional<std::size_t> weights_entry(const Archive& archive) {
    for (std::size_t i = 0; i < archive.entries().size(); ++i) {
        const std::string_view entry = archive.entries()[i];
        const std::size_t slash = entry.rfind('/');
        if (entry.ends_with("_weights_config.json") && slash != std::string_view::npos &&
            ends_in(entry.substr(0, slash), "data/weights"))
            return i;
    }
    return std::nullopt;
}

pt2::Notes notes_of(const Archive& archive) {
    pt2::Notes notes;
    if (const auto weights = weights_entry(archive))
        notes.ties = pt2::parse_stored_ties(archive.read(*weights, most_weights_bytes));
    if (const auto note = find_entry(archive, "extra/joulecast.json")) {
        const std::string text = archive.read(*note, most_note_bytes);
        notes.symbol_names = pt2::parse_symbol_names(text);
        notes.ties.merge(pt2::parse_noted_ties(text));
    }
    return notes;
}

Graph read(const Archive& archive, const std::string& name, const SymbolValues& set) {
    const std::string model = archive.read(model_entry(archive), most_model_bytes);
    Graph graph;
    try {
        graph = pt2::to_graph(pt2::parse_program(model), notes_of(archive), set);
    } catch (const FormatError& error) {
        throw FormatError("cannot read " + archive.name() + ": " + error.what());
    }
    graph.name = name;
    return with_symbols(fold_decomposed(std::move(graph)), set);
}

}  // namespace

Graph read_pt2(const std::filesystem::path& path, const SymbolValues& set) {
    return read(Archive(path), path.stem().string(), set);
}

Graph read_pt2(std::span<const std::byte> bytes, const std::string& name, const SymbolValues& set) {
    return read(Archive(bytes, name), std::filesystem::path(name).stem().string(), set);
}

}  // namespace joulecast
