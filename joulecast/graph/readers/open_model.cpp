#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/readers/packed_graph.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/units/joined.h"
#include "joulecast/units/near_words.h"

namespace joulecast {
namespace {

/// Names near it; all names if none is.
std::string suggestion(const std::string& asked, const std::vector<std::string>& names) {
    const std::vector<std::string> nearest = near_words(asked, names);
    if (!nearest.empty()) return "Did you mean " + joined(nearest) + "?";
    return names.empty() ? "The zoo is empty or missing" : "The zoo has " + joined(names);
}

/// Names that people use for networks of the zoo, and those of Hugging Face's hub, in small letters. The graph carries
/// the zoo's own name, so reports say what was taken.
struct Alias {
    std::string_view name;
    std::string_view network;
};
constexpr std::array aliases = {
    Alias{"bert", "bert-base"},
    Alias{"bert-base-uncased", "bert-base"},
    Alias{"bert-large-uncased", "bert-large"},
    Alias{"convnext_b", "convnext_base"},
    Alias{"convnext_t", "convnext_tiny"},
    Alias{"darknet", "darknet19"},
    Alias{"darknet-19", "darknet19"},
    Alias{"densenet", "densenet121"},
    Alias{"efficientnet", "efficientnet_b0"},
    Alias{"facebook/opt-1.3b", "opt-1.3b"},
    Alias{"google-bert/bert-base-uncased", "bert-base"},
    Alias{"google-bert/bert-large-uncased", "bert-large"},
    Alias{"google-t5/t5-small", "t5-small"},
    Alias{"inception", "inception_v3"},
    Alias{"llama-3.2", "llama-3.2-1b"},
    Alias{"meta-llama/llama-3.2-1b", "llama-3.2-1b"},
    Alias{"mnasnet", "mnasnet1_0"},
    Alias{"mobilenet_v3", "mobilenet_v3_large"},
    Alias{"mobilenetv2", "mobilenet_v2"},
    Alias{"mobilenetv3", "mobilenet_v3_large"},
    Alias{"openai-community/gpt2", "gpt2"},
    Alias{"openai/whisper-tiny", "whisper-tiny"},
    Alias{"opt", "opt-1.3b"},
    Alias{"qwen/qwen2-1.5b", "qwen2-1.5b"},
    Alias{"qwen2", "qwen2-1.5b"},
    Alias{"regnet_y", "regnet_y_400mf"},
    Alias{"resnext50", "resnext50_32x4d"},
    Alias{"shufflenet", "shufflenet_v2_x1_0"},
    Alias{"shufflenet_v2", "shufflenet_v2_x1_0"},
    Alias{"squeezenet", "squeezenet1_1"},
    Alias{"swin", "swin_t"},
    Alias{"swin_v2", "swin_v2_t"},
    Alias{"t5", "t5-small"},
    Alias{"u-net", "unet"},
    Alias{"vit", "vit_b_16"},
    Alias{"whisper", "whisper-tiny"},
    Alias{"wide_resnet50", "wide_resnet50_2"},
};

constexpr std::string_view training_form = ".train";
constexpr std::string_view traced_form = "@traced";

/// The zoo's own name for a name without "@size". The zoo writes all names in small letters.
std::string without_alias(std::string base) {
    std::ranges::transform(base, base.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto* const found = std::ranges::find(aliases, std::string_view(base), &Alias::name);
    return found == aliases.end() ? base : std::string(found->network);
}

/// Pixels along the last dimension of the image that the network takes; absent for those that take none.
std::optional<std::int64_t> image_size(const Graph& graph) {
    constexpr std::size_t image_dimensions = 4;
    for (const GraphInput& input : graph.inputs)
        if (input.kind == GraphInput::Kind::user_input && input.type.sizes.size() == image_dimensions)
            return input.type.sizes.back();
    return std::nullopt;
}

/// The form of the network for the mode; without one of its own, a network trains in the form that infers.
Graph read_form(const std::string& network, const std::filesystem::path& zoo, const SymbolValues& set, Mode mode) {
    std::string stem = network + std::string(training_form);
    if (mode != Mode::training || !std::filesystem::exists(zoo / (stem + ".pt2"))) stem = network;
    auto packed = read_packed(zoo, stem);
    Graph graph = packed ? with_symbols(*std::move(packed), set) : read_pt2(zoo / (stem + ".pt2"), set);
    graph.name = network;
    return graph;
}

/// The network's plain form where its image size is the one asked for; else throws, naming the sizes there are.
Graph read_plain_size(const std::string& network, const std::string& size, const std::vector<std::string>& names,
                      const std::filesystem::path& zoo, const SymbolValues& set, Mode mode) {
    const std::string failure = "there is no network \"" + network + "@" + size + "\": ";
    Graph graph = read_form(network, zoo, set, mode);
    const std::optional<std::int64_t> plain = image_size(graph);
    if (!plain)
        throw Error(failure + "\"" + network + "\" takes no image. Leave out \"@" + size + "\" and set its symbols, " +
                    "for example --set sequence=" + (size.empty() ? "128" : size.substr(0, 8)));
    if (std::to_string(*plain) == size) return graph;
    std::vector<std::string> sizes = {network + "@" + std::to_string(*plain)};
    for (const std::string& name : names)
        if (name.starts_with(network + "@") && !name.ends_with(traced_form)) sizes.push_back(name);
    throw Error(failure + "the zoo has " + joined(sizes) + ". Take one of these, or export the network at that size");
}

/// As zoo_names() has it, without listing the folder.
bool is_in_zoo(const std::string& name, const std::filesystem::path& zoo) {
    std::error_code missing;
    const bool is_file_name = name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
    return is_file_name && !name.ends_with(training_form) && std::filesystem::exists(zoo / (name + ".pt2"), missing);
}

Graph open_zoo(const std::string& model, const std::filesystem::path& zoo, const SymbolValues& set, Mode mode) {
    const std::size_t at = std::min(model.find('@'), model.size());
    const std::string network = without_alias(model.substr(0, at));
    const std::string full = network + model.substr(at);
    if (is_in_zoo(full, zoo)) return read_form(full, zoo, set, mode);
    const std::vector<std::string> names = zoo_names(zoo);
    const bool is_of_zoo = std::ranges::binary_search(names, network);
    if (is_of_zoo && model.substr(at) == traced_form)
        throw Error("there is no network \"" + model + "\": what torch.export traced of " + network +
                    " was measured by an earlier joulecast, and its graph is not kept. Measure " + network + " again");
    if (at < model.size() && is_of_zoo) return read_plain_size(network, model.substr(at + 1), names, zoo, set, mode);
    throw Error("there is no network \"" + model + "\". " + suggestion(model, names));
}

}  // namespace

bool names_file(std::string_view text) {
    return text.ends_with(".pt2") || text.ends_with(".onnx") || text.ends_with(".graph.json");
}

bool names_network(const std::string& text, const std::filesystem::path& zoo) {
    return names_file(text) || is_in_zoo(without_alias(text.substr(0, text.find('@'))), zoo);
}

SymbolValues usual_sizes(const std::string& model, SymbolValues set, Mode mode) {
    if (mode == Mode::inference && !names_file(model)) set.try_emplace("batch", 1);
    return set;
}

std::vector<std::string> zoo_names(const std::filesystem::path& zoo) {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(zoo, missing)) {
        const std::string stem = entry.path().stem().string();
        if (entry.path().extension() == ".pt2" && !stem.ends_with(training_form)) names.push_back(stem);
    }
    std::ranges::sort(names);
    return names;
}

Graph open_model(const std::string& model, const std::filesystem::path& zoo, const SymbolValues& set, Mode mode) {
    const std::filesystem::path path = model;
    if (path.extension() == ".pt2") return read_pt2(path, set);
    if (path.extension() == ".onnx") return read_onnx(path, set);
    if (model.ends_with(".graph.json")) return read_graph_json(path, set);
    for (const char* suffix : {".pt", ".pth", ".safetensors", ".json"})
        if (model.ends_with(suffix))
            throw Error("cannot read " + model + ": " + suffix + " is not supported yet. Supported: .pt2 of " +
                        "torch.export, .onnx, .graph.json, and names of the zoo such as resnet50");
    return open_zoo(model, zoo, set, mode);
}

}  // namespace joulecast
