#include "cli/setting_options.h"

#include <algorithm>
#include <set>

#include "cli/count_model.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/measure/measurement.h"

namespace joulecast::cli {

void visit_graphs(const std::string& model, const std::vector<SymbolValues>& sizes,
                  const std::vector<std::string>& modes, const std::function<void(Graph, Mode)>& visitor) {
    const std::string zoo = shipped_folder("zoo");
    std::set<std::string> told;
    for (const SymbolValues& symbols : sizes) {
        for (const std::string& word : modes) {
            const Mode mode = parse_mode(word).value();
            Graph graph = open_model(model, zoo, symbols, mode);
            for (const std::string& note : notes_of(graph))
                if (told.insert(note).second) tell(note);
            visitor(std::move(graph), mode);
        }
    }
}

void declare_host_cpu(CLI::App& command, std::string& cpu) {
    command.option_defaults()->group("Device");
    command.add_option("--host-cpu", cpu, "CPU that drives the GPU: an id of joulecast devices, a data sheet, or cpu")
        ->type_name("ID");
}

void declare_memory_format(CLI::App& command, std::string& format) {
    command.option_defaults()->group("Network");
    command.add_option("--memory-format", format, "how images and their weights lie in memory")
        ->check(CLI::IsMember({"contiguous", "channels_last"}))
        ->capture_default_str();
}

void declare_engines(CLI::App& command, std::vector<std::string>& engines) {
    command.option_defaults()->group("Device");
    command.add_option("--engine", engines, "whose kernels run, as measured: torch, onnxruntime, ...; several: a,b")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);  // a network may stand behind it
}

void put_engines_in(Question& question, const std::vector<std::string>& engines) {
    for (const std::string& engine : engines) {
        if (!is_engine(engine)) throw UsageError("--engine: '" + engine + "' is no name of an engine");
    }
    if (!engines.empty()) question.engines = engines;
}

void declare_sources(CLI::App& command, std::string& predictor, std::string& database) {
    command.option_defaults()->group("Source of forecasts");
    command.add_option("--predictor", predictor, "predictor (default: the shipped one that covers the device)")
        ->type_name("FILE.jcp");
    command.add_option("--db", database, "database; its operations count as measured")->type_name("FILE.db");
}

SessionSettings for_one_question(const std::string& predictor, const std::string& database) {
    return {.predictor = {predictor, nullptr}, .database = database, .most_networks = 0};
}

void SettingOptions::declare(CLI::App& command) {
    command.option_defaults()->group("Network");
    command.add_option("--set", set, "size of the network, such as batch=1,8,32; once for each symbol")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    command.add_option("--batch", batches, "the same as --set batch=N,...")->type_name("N,...");
    command.add_option("--mode", modes, "what runs; both: inference,training")
        ->delimiter(',')
        ->check(CLI::IsMember({"inference", "training"}))
        ->capture_default_str();
    command.add_option("--precision", precisions, "one or several (fp32,bf16) of " + precision_words())
        ->type_name("NAME,...")
        ->delimiter(',')
        ->capture_default_str();
    command.add_option("--memory-format", memory_formats, "how images lie in memory; both: contiguous,channels_last")
        ->delimiter(',')
        ->check(CLI::IsMember({"contiguous", "channels_last"}))
        ->capture_default_str();
}

void SettingOptions::declare_hosts(CLI::App& command) {
    command.option_defaults()->group("Device");
    command.add_option("--host", hosts, "what issues the calls: Python, C++ or a CUDA graph; several: python,cpp")
        ->delimiter(',')
        ->check(CLI::IsMember({"python", "cpp", "graph"}))
        ->capture_default_str();
    declare_engines(command, engines);
}

std::vector<SymbolValues> SettingOptions::sizes() const {
    std::vector<std::string> settings = set;
    if (!batches.empty()) settings.push_back("batch=" + batches);
    return parse_settings(settings);
}

std::size_t SettingOptions::count() const {
    Question question;
    put_in(question);
    return forecasts_of_each_network(question);
}

TrainingSetup SettingOptions::training_setup() const {
    if (training.is_given() && std::ranges::find(modes, "training") == modes.end())
        throw UsageError("--optimizer, --accumulate and --checkpointing need --mode training");
    return training.setup();
}

void SettingOptions::put_in(Question& question) const {
    question.training = training_setup();
    question.sizes = sizes();
    question.precisions = precisions;
    question.modes.clear();
    for (const std::string& word : modes) question.modes.push_back(parse_mode(word).value());
    question.memory_formats.clear();
    for (const std::string& word : memory_formats) question.memory_formats.push_back(parse_memory_format(word).value());
    put_engines_in(question, engines);
    question.hosts.clear();
    for (const std::string& word : hosts) question.hosts.push_back(parse_host(word).value());
}

}  // namespace joulecast::cli
