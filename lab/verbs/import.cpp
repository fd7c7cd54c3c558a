#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/import_files.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "lab/published/import_aiconfigurator.h"
#include "lab/published/import_energaizer.h"
#include "lab/published/import_llmservingsim.h"
#include "lab/published/import_mlperf_power.h"
#include "lab/published/import_neusight.h"
#include "lab/published/import_nicolai.h"
#include "lab/published/import_vidur.h"
#include "lab/verbs/verbs.h"

namespace joulecast::cli {
namespace {

/// The zoo's network for images of that size: its plain name where it takes such images, else with "@size".
std::string zoo_network(const std::string& model, std::int64_t image_size) {
    std::string sized = model + "@" + std::to_string(image_size);
    const std::string zoo = shipped_folder("zoo");
    const auto names = zoo_names(zoo);
    if (std::binary_search(names.begin(), names.end(), sized)) return sized;
    if (!std::binary_search(names.begin(), names.end(), model)) return sized;
    try {
        return open_model(sized, zoo).name;
    } catch (const Error&) {
        return sized;  // the zoo has it at other sizes only; validate says so where it matters
    }
}

Import import_thesis(Dataset& dataset, std::istream& input, const std::string& name) {
    return import_nicolai(dataset, input, name, zoo_network);
}

/// In the order of the help.
const std::array<Source, 7>& sources() {
    static const std::array<Source, 7> table{{
        {"nicolai", "layers and networks of C. Nicolai's thesis", import_thesis},
        {"neusight", "tables of NeuSight", import_neusight},
        {"vidur", "profiles of Vidur", import_vidur},
        {"aiconfigurator", "tables of NVIDIA AIConfigurator", import_aiconfigurator},
        {"energaizer", "tables of EnergAIzer", import_energaizer},
        {"llmservingsim", "profiles of LLMServingSim", import_llmservingsim},
        {"mlperf-power", "wall power of MLPerf Inference on RK3588 boards", import_mlperf_power},
    }};
    return table;
}

}  // namespace

Run declare_published_import(CLI::App& command) {
    const auto options = std::make_shared<ImportOptions>();
    declare(command, *options, sources());
    options->output.declare(command);
    return [options] { return import_files(*options, source_named(sources(), options->source).read); };
}

}  // namespace joulecast::cli
