#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/training_options.h"
#include "joulecast/answer/session.h"
#include "joulecast/graph/graph.h"

namespace joulecast::cli {

/// Opens a network at each of its sizes in every mode, in this order, one at a time: the graph has the form that its
/// mode wants, if the zoo has that. Throws what open_model() throws.
void visit_graphs(const std::string& model, const std::vector<SymbolValues>& sizes,
                  const std::vector<std::string>& modes, const std::function<void(Graph, Mode)>& visitor);

/// --engine, as Question::engines; none: the usual one.
void declare_engines(CLI::App& command, std::vector<std::string>& engines);
/// Throws UsageError for what can be no engine's name.
void put_engines_in(Question& question, const std::vector<std::string>& engines);

/// --host-cpu, as Question::host_cpu.
void declare_host_cpu(CLI::App& command, std::string& cpu);

/// --memory-format of a single network: contiguous or channels_last.
void declare_memory_format(CLI::App& command, std::string& format);

/// --predictor and --db: what forecasts come from.
void declare_sources(CLI::App& command, std::string& predictor, std::string& database);

/// What is loaded stays, forecasts do not: each verb asks once. An empty predictor is the shipped ones.
SessionSettings for_one_question(const std::string& predictor, const std::string& database);

/// In which settings networks are forecast: options that mean the same for every verb that has them. The options must
/// outlive the parse.
struct SettingOptions {
    std::vector<std::string> set;
    std::string batches;
    std::vector<std::string> modes{"inference"};
    std::vector<std::string> precisions{"default"};
    std::vector<std::string> memory_formats{"contiguous"};
    std::vector<std::string> hosts{"python"};
    std::vector<std::string> engines;
    TrainingOptions training;

    /// --set, --batch, --mode, --precision, --memory-format.
    void declare(CLI::App& command);
    /// --host and --engine, of which several may be asked for.
    void declare_hosts(CLI::App& command);
    /// --optimizer and what else a training step is made of.
    void declare_training(CLI::App& command) { training.declare(command); }
    /// Throws UsageError where it is asked for, but no training.
    TrainingSetup training_setup() const;

    /// --set and --batch. Throws UsageError for what is wrong with them.
    std::vector<SymbolValues> sizes() const;
    /// Forecasts that the options ask for of each network. Throws UsageError for a --set that is wrong.
    std::size_t count() const;
    /// Sizes, modes, precisions, memory formats, engines, hosts and what a training step is made of. Throws UsageError
    /// for what is wrong with them.
    void put_in(Question& question) const;
};

}  // namespace joulecast::cli
