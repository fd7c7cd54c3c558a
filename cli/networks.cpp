#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/fitted_table.h"
#include "cli/json_tree.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/units/near_words.h"

namespace joulecast::cli {
namespace {

/// A network of the zoo as it infers.
struct ZooNetwork {
    std::string name;
    std::string sizes;  ///< symbols with their ranges: "batch 1-4096"
    std::string input;  ///< of the first input: "3x224x224" behind the batch
    std::int64_t calls = 0;
    std::int64_t parameters = 0;
};

std::string sizes_text(const Graph& graph) {
    std::string text;
    for (const auto& [name, symbol] : graph.symbols)
        text +=
            (text.empty() ? "" : ", ") + name + " " + std::to_string(symbol.low) + "-" + std::to_string(symbol.high);
    return text;
}

ZooNetwork network_of(const std::string& name, const Graph& graph) {
    ZooNetwork network{name, sizes_text(graph), "", static_cast<std::int64_t>(graph.nodes.size()), 0};
    for (const GraphInput& input : graph.inputs) {
        if (input.kind == GraphInput::Kind::parameter) network.parameters += element_count(input.type);
        if (input.kind != GraphInput::Kind::user_input || !network.input.empty()) continue;
        for (std::size_t i = 1; i < input.type.sizes.size(); ++i)
            network.input += (i > 1 ? "x" : "") + std::to_string(input.type.sizes[i]);
    }
    return network;
}

const std::vector<Column<ZooNetwork>>& network_columns() {
    static const std::vector<Column<ZooNetwork>> list = {
        {"name", "network", Show::text, [](const ZooNetwork& n) { return n.name; }},
        {"input", "input", Show::text, [](const ZooNetwork& n) { return n.input; }},
        {"parameters", "parameters", Show::count, [](const ZooNetwork& n) { return n.parameters; }},
        {"calls", "calls", Show::count, [](const ZooNetwork& n) { return n.calls; }},
        {"sizes", "sizes (--set)", Show::text, [](const ZooNetwork& n) { return n.sizes; }},
    };
    return list;
}

struct NetworksOptions {
    std::string word;
    Output output;
};

int run_networks(const NetworksOptions& options) {
    const std::string zoo = shipped_folder("zoo");
    std::vector<std::string> names = zoo_names(zoo);
    if (!options.word.empty()) {
        const std::vector<std::string> known = names;
        std::erase_if(names, [&](const std::string& name) { return name.find(options.word) == std::string::npos; });
        if (names.empty()) names = near_words(options.word, known);
        if (names.empty()) throw UsageError("no network of the zoo is called like '" + options.word + "'");
    }
    std::vector<ZooNetwork> networks(names.size());
    in_parallel(names.size(), 0, [&](std::size_t i) {
        networks[i] = network_of(names[i], open_model(names[i], zoo, {}, Mode::inference));
    });
    const Table table = fill(network_columns(), networks);
    if (options.output.format == "json") {
        nlohmann::ordered_json json{{"schema", "joulecast.networks/1"}};
        json["networks"] = rows_json(table);
        options.output.write(printed(json));
    } else if (options.output.format == "csv") {
        options.output.write(to_csv(table));
    } else {
        static const std::vector<std::string> least_needed{"calls", "sizes", "input"};
        options.output.write(to_text(fitted(table, least_needed, terminal(options.output).width)) +
                             "your own: joulecast help exporting\n");
    }
    return done;
}

}  // namespace

Run declare_networks(CLI::App& command) {
    const auto options = std::make_shared<NetworksOptions>();
    command.add_option("WORD", options->word, "only networks with this in their name");
    options->output.declare(command);
    return [options] { return run_networks(*options); };
}

}  // namespace joulecast::cli
