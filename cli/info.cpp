#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/host_text.h"
#include "cli/json_tree.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/repeat_spread.h"
#include "joulecast/error.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/measure/errors.h"
#include "joulecast/model/jcp.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

/// What is said about a file: facts, and one table of its parts.
struct Description {
    std::string kind;  ///< "database", "predictor", "network"
    std::vector<std::pair<std::string, Cell>> facts;
    Table parts;
};

/// The spread between repeats, by session, in a line; empty without references.
std::string sigma_text(const Dataset& dataset) {
    const auto references = dataset.references();
    const RepeatSpread spread(references);
    std::map<std::pair<std::string, std::string>, std::int64_t> sessions;
    for (const ReferenceRow& row : references) ++sessions[{row.asked.device, row.provenance.session}];
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const auto& [session, repeats] : sessions) {
        const double sigma = spread.of(session.first, session.second);
        if (std::isnan(sigma)) continue;
        low = std::min(low, sigma);
        high = std::max(high, sigma);
    }
    if (low > high) return {};
    const std::string range = show(low, Show::percent);
    const std::string to = show(high, Show::percent);
    return (range == to ? range : range + " to " + to) + ", of " + std::to_string(references.size()) + " repeats in " +
           std::to_string(sessions.size()) + (sessions.size() == 1 ? " session" : " sessions");
}

/// Half of the rows have a narrower 95 % interval around their time than this share, sigma between included.
template <class Row>
void append_intervals(std::vector<double>& shares, const std::vector<Row>& rows, const RepeatSpread& spread) {
    for (const Row& row : rows) {
        const TimeSummary& time = row.measurement.time;
        const double sigma = spread.of(row.measurement.asked.device, row.provenance.session);
        const double share = half_width_95(time_sigma_s(time, sigma)) / time.mean_s;
        if (std::isfinite(share)) shares.push_back(share);
    }
}

std::string interval_text(const Dataset& dataset) {
    const RepeatSpread spread(dataset.references());
    std::vector<double> shares;
    append_intervals(shares, dataset.operations(), spread);
    append_intervals(shares, dataset.networks(), spread);
    if (shares.empty()) return {};
    return "± " + show(median(shares), Show::percent) + " (95 %, median; sigma between included)";
}

/// Networks that the database has the calls of.
std::int64_t listed_networks(const Dataset& dataset) {
    std::set<std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string>> networks;
    for (const NetworkOperationRow& line : dataset.network_operations())
        networks.emplace(line.model, line.symbols, line.mode, line.precision);
    return static_cast<std::int64_t>(networks.size());
}

Description describe_database(const std::string& file) {
    const Dataset dataset(file, Dataset::Access::read_only);
    const auto groups = dataset.row_groups();
    Description description{"database", {{"schema_version", dataset.schema_version()}}, {}};
    std::string devices;
    for (const Device& device : dataset.devices()) devices += (devices.empty() ? "" : ", ") + device.id;
    std::map<std::string, std::int64_t> rows;
    for (const RowGroup& group : groups) rows[group.kind] += group.rows;
    description.facts.emplace_back("devices", devices);
    description.facts.emplace_back("operations", rows["operation"]);
    description.facts.emplace_back("networks", rows["network"]);
    description.facts.emplace_back("listed_networks", listed_networks(dataset));
    std::string without_clock;
    for (const Device& device : dataset.devices()) {
        const std::int64_t without = dataset.rows_without_clock(device.id);
        if (without > 0)
            without_clock += (without_clock.empty() ? "" : "; ") + std::to_string(without) + " of " + device.id +
                             ", beside others that tell it";
    }
    if (!without_clock.empty()) description.facts.emplace_back("without_clock", without_clock);
    description.facts.emplace_back("sigma_between", sigma_text(dataset));
    description.facts.emplace_back("intervals", interval_text(dataset));
    static const std::vector<Column<RowGroup>> columns = {
        {"kind", "kind", Show::text, [](const RowGroup& g) { return g.kind; }},
        {"device", "device", Show::text, [](const RowGroup& g) { return g.device; }},
        {"mode", "mode", Show::text, [](const RowGroup& g) { return g.mode; }},
        {"engine", "engine", Show::text, [](const RowGroup& g) { return g.engine; }},
        {"host", "host", Show::text, [](const RowGroup& g) { return g.host; }},
        {"outcome", "outcome", Show::text, [](const RowGroup& g) { return g.outcome; }},
        {"rows", "rows", Show::count, [](const RowGroup& g) { return g.rows; }},
        {"sessions", "sessions", Show::count, [](const RowGroup& g) { return g.sessions; }},
        {"wall_s", "measuring took", Show::seconds, [](const RowGroup& g) { return g.wall_s; }},
        {"worker", "worker", Show::text, [](const RowGroup& g) { return g.worker; }},
        {"source", "source", Show::text, [](const RowGroup& g) { return g.source; }},
    };
    description.parts = fill(columns, groups);
    return description;
}

struct DevicePart {
    const DeviceModel* model = nullptr;
    std::int64_t models = 0;
    std::vector<std::string> learners;
    std::int64_t trees = 0;
};

/// That of the operations, and what calls cost more from those that networks were measured from.
std::string hosts_text(const DeviceModel& model) {
    std::string text(name(model.point.host));
    for (const HostExtra& extra : model.hosts) text += "; " + host_text(extra);
    return text;
}

Description describe_predictor(const std::string& file) {
    const Predictor predictor = read_jcp(file);
    const Origin& origin = predictor.origin;
    Description description{"predictor",
                            {{"written_by", origin.program},
                             {"created", origin.created},
                             {"predictor_method", std::string(method_name(predictor))},
                             {"licence", origin.licence},
                             {"rows", origin.rows},
                             {"measured_from", origin.measured_from},
                             {"measured_to", origin.measured_to},
                             {"sources", joined(origin.sources)},
                             {"workers", joined(origin.workers)},
                             {"frameworks", joined(origin.frameworks)},
                             {"machines", joined(origin.machines)},
                             {"features", static_cast<std::int64_t>(predictor.features.size())}},
                            {}};
    if (const std::string paper(method_paper(predictor)); !paper.empty())
        description.facts.emplace_back("method_paper", paper);
    static const std::vector<Column<DevicePart>> columns = {
        {"device", "device", Show::text, [](const DevicePart& p) { return p.model->device.id; }},
        {"threads", "threads", Show::count, [](const DevicePart& p) { return std::int64_t{p.model->point.threads}; }},
        {"laws", "laws", Show::count,
         [](const DevicePart& p) { return static_cast<std::int64_t>(p.model->laws.size()); }},
        {"models", "models", Show::count, [](const DevicePart& p) { return p.models; }},
        {"learners", "learners", Show::text, [](const DevicePart& p) { return joined(p.learners); }},
        {"trees", "trees", Show::count, [](const DevicePart& p) { return p.trees; }},
        {"networks", "networks", Show::count, [](const DevicePart& p) { return p.model->networks; }},
        {"hosts", "hosts", Show::text, [](const DevicePart& p) { return hosts_text(*p.model); }},
    };
    std::vector<DevicePart> parts;
    for (const DeviceModel& model : predictor.devices) {
        parts.push_back({&model, static_cast<std::int64_t>(model.models.size()), {}, 0});
        std::set<std::string_view> learners;
        for (const FamilyModel& family : model.models) {
            learners.insert(name(family.learner));
            for (const ModelPart& part : family.parts)
                parts.back().trees += static_cast<std::int64_t>(tree_count(part.model));
        }
        if (model.published) {
            parts.back().models = static_cast<std::int64_t>(model.published->regressions.size());
            for (const PublishedRegression& regression : model.published->regressions) {
                learners.insert(name(regression.learner));
                parts.back().trees += static_cast<std::int64_t>(tree_count(regression.model));
            }
        }
        parts.back().learners.assign(learners.begin(), learners.end());
    }
    description.parts = fill(columns, parts);
    for (const KeptDevice& kept : predictor.kept) {
        description.facts.emplace_back(
            "kept_" + kept.device.id + "_" + std::string(name(kept.point.math)),
            std::to_string(kept.operations.size()) +
                " measured operations; its other operations are forecast by the model over_devices, adjusted to " +
                std::to_string(kept.telling.size()) + " of these");
    }
    for (const PooledModel& pooled : predictor.pooled) {
        description.facts.emplace_back("over_devices_" + std::string(name(pooled.point.math)),
                                       joined(pooled.devices) + ": for others of their kind, from data sheets");
    }
    return description;
}

struct GraphFamily {
    std::string family;
    std::int64_t calls = 0;
};

Description describe_network(const std::string& file) {
    const Graph graph = read_pt2(file);
    std::string symbols;
    for (const auto& [symbol, state] : graph.symbols)
        symbols += (symbols.empty() ? "" : ", ") + symbol + "=" + std::to_string(state.value) + " (from " +
                   std::to_string(state.low) +
                   (state.high == INT64_MAX ? " on)" : " to " + std::to_string(state.high) + ")");
    std::int64_t parameters = 0;
    for (const GraphInput& input : graph.inputs)
        if (input.kind == GraphInput::Kind::parameter) parameters += element_count(input.type);
    std::map<std::string, std::int64_t> calls;
    for (const Node& node : graph.nodes) calls[std::string(name(family(node.operation)))] += node.count;
    std::vector<GraphFamily> families;
    for (const auto& [family, count] : calls) families.push_back({family, count});
    static const std::vector<Column<GraphFamily>> columns = {
        {"family", "family", Show::text, [](const GraphFamily& f) { return f.family; }},
        {"calls", "calls", Show::count, [](const GraphFamily& f) { return f.calls; }},
    };
    return {"network",
            {{"name", graph.name},
             {"symbols", symbols},
             {"calls", static_cast<std::int64_t>(graph.nodes.size())},
             {"parameters", parameters}},
            fill(columns, families)};
}

/// By its first bytes, whatever it is called.
Description describe(const std::string& file) {
    std::ifstream input(file, std::ios::binary);
    std::array<char, 16> bytes{};
    if (!input) throw Error("cannot read '" + file + "'. Check the path and its permissions.");
    input.read(bytes.data(), bytes.size());
    const std::string_view start(bytes.data(), static_cast<std::size_t>(input.gcount()));
    input.close();
    if (start.starts_with("SQLite format 3")) return describe_database(file);
    if (start.starts_with("\x89JCP")) return describe_predictor(file);
    if (start.starts_with("PK\x03\x04")) return describe_network(file);
    throw FormatError("'" + file + "' is not a database, a predictor (.jcp) or a network (.pt2).");
}

std::string to_text(const Description& description) {
    Table facts{{{"fact", "", Show::text}, {"value", "", Show::text}}, {}};
    facts.rows.push_back({std::string("kind"), description.kind});
    for (const auto& [key, value] : description.facts) {
        std::string shown = show(value, Show::count);
        if (const auto* text = std::get_if<std::string>(&value)) shown = *text;
        facts.rows.push_back({key, shown});
    }
    const std::string text = joulecast::to_text(facts);
    return description.parts.rows.empty() ? text : text + "\n" + joulecast::to_text(description.parts);
}

std::string to_json(const Description& description) {
    nlohmann::ordered_json answer{{"schema", "joulecast.info/1"}, {"kind", description.kind}};
    for (const auto& [key, value] : description.facts) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) answer[key] = *number;
        if (const auto* text = std::get_if<std::string>(&value)) answer[key] = *text;
    }
    answer["parts"] = rows_json(description.parts);
    return printed(answer);
}

}  // namespace

Run declare_info(CLI::App& command) {
    struct Options {
        std::string file;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("FILE", options->file, "database (.db), predictor (.jcp) or network (.pt2)")->required();
    options->output.declare(command);
    return [options] {
        const Description description = describe(options->file);
        const std::string& format = options->output.format;
        options->output.write(format == "csv"    ? to_csv(description.parts)
                              : format == "json" ? to_json(description)
                                                 : to_text(description));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
