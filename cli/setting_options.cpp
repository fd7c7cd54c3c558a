#include "cli/setting_options.h"

#include <algorithm>

#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/learn/parallel.h"

namespace joulecast::cli {

void visit_graphs(const std::string& model, const std::vector<SymbolValues>& sizes,
                  const std::vector<std::string>& modes, const std::function<void(Graph, Mode)>& visitor) {
    const std::string zoo = shipped_folder("zoo");
    for (const SymbolValues& symbols : sizes) {
        for (const std::string& word : modes) {
            const Mode mode = parse_mode(word).value();
            visitor(open_model(model, zoo, symbols, mode), mode);
        }
    }
}

void declare_host_cpu(CLI::App& command, std::string& cpu) {
    command.option_defaults()->group("Device");
    command.add_option("--host-cpu", cpu, "CPU that drives the GPU: an id of joulecast devices, a data sheet, or cpu")
        ->type_name("ID");
}

void declare_sources(CLI::App& command, std::string& predictor, std::string& database) {
    command.option_defaults()->group("Source of forecasts");
    command.add_option("--predictor", predictor, "predictor (default: the shipped one that covers the device)")
        ->type_name("FILE.jcp");
    command.add_option("--db", database, "database; its operations count as measured")->type_name("FILE.db");
}

void SettingOptions::declare(CLI::App& command) {
    command.option_defaults()->group("Network");
    command.add_option("--set", set, "size of the network, such as batch=1,8,32; once for each symbol")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    command.add_option("--mode", modes, "what runs; both: inference,training")
        ->delimiter(',')
        ->check(CLI::IsMember({"inference", "training"}))
        ->capture_default_str();
    command.add_option("--precision", precisions, "one or several (fp32,bf16) of " + precision_words())
        ->type_name("NAME,...")
        ->delimiter(',')
        ->capture_default_str();
}

void SettingOptions::declare_hosts(CLI::App& command) {
    command.option_defaults()->group("Device");
    command.add_option("--host", hosts, "what issues the calls: Python, C++ or a CUDA graph; several: python,cpp")
        ->delimiter(',')
        ->check(CLI::IsMember({"python", "cpp", "graph"}))
        ->capture_default_str();
}

std::size_t SettingOptions::count() const {
    return parse_settings(set).size() * modes.size() * precisions.size() * hosts.size();
}

TrainingSetup SettingOptions::training_setup() const {
    if (training.is_given() && std::ranges::find(modes, "training") == modes.end())
        throw UsageError("--optimizer, --accumulate and --checkpointing need --mode training");
    return training.setup();
}

std::vector<ForecastSetting> SettingOptions::settings(Mode mode) const {
    const TrainingSetup step = training_setup();
    std::vector<ForecastSetting> all;
    for (const std::string& precision : precisions) {
        for (const std::string& host : hosts)
            all.push_back({mode, precision, parse_host(host).value(), mode == Mode::training ? step : TrainingSetup{}});
    }
    return all;
}

void SettingOptions::visit(const std::vector<std::string>& models,
                           const std::function<void(const Graph&, const ForecastSetting&)>& visitor) const {
    const auto combinations = parse_settings(set);
    for (const std::string& model : models) {
        visit_graphs(model, combinations, modes, [&](const Graph& graph, Mode mode) {
            for (const ForecastSetting& setting : settings(mode)) visitor(graph, setting);
        });
    }
}

void SettingOptions::visit_in_parallel(const std::vector<std::string>& models,
                                       const std::function<void(Visited)>& visitor) const {
    const auto combinations = parse_settings(set);
    const std::string zoo = shipped_folder("zoo");
    const std::size_t sizes = models.size() * combinations.size();
    const std::size_t of_each = precisions.size() * hosts.size();
    // Mode after mode: side by side, two modes of a network would forecast the same kernels at the same time.
    in_parallel(sizes * modes.size(), 0, [&](std::size_t turn) {
        const std::size_t sized = turn % sizes;
        const Mode mode = parse_mode(modes[turn / sizes]).value();
        const std::string& model = models[sized / combinations.size()];
        const std::size_t network = sized * modes.size() + turn / sizes;
        visitor({open_model(model, zoo, combinations[sized % combinations.size()], mode), mode, network * of_each});
    });
}

}  // namespace joulecast::cli
