#include "lab/published/import_neusight.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/units/printable.h"
#include "lab/published/fx_node.h"

namespace joulecast {
namespace {

constexpr const char* not_measured = "not measured";

TensorType f32(Sizes sizes) {
    return {Dtype::f32, std::move(sizes)};
}

/// NeuSight's own table of devices calls its V100 Tesla_V100-PCIE-32GB; the other names are told apart by themselves.
std::string_view device_of(std::string_view name) {
    return name == "V100" ? "v100-32g-pcie" : name;
}

bool is_amd(const std::string& device) {
    return device.starts_with("MI");
}

/// The README of the published tables: torch 2.1 with CUDA 12.1, on AMD torch 2.4.1.
Provenance provenance(const std::string& session, const std::string& device) {
    Provenance from;
    from.session = "neusight " + session;
    from.worker = "NeuSight";
    from.framework = is_amd(device) ? "torch 2.4.1" : "torch 2.1, CUDA 12.1";
    from.governor = "unknown";
    from.method = "mean of the best 5 of 25";
    from.settings =
        R"({"statistic":"mean of the best 5 of 25 calls","timer":"CUDA events around one eager call","tf32":false})";
    from.source = "neusight";
    return from;
}

/// Seconds; absent where the table has no time, an error where it cannot be one.
std::optional<double> seconds(const TableReader& row, std::string_view column) {
    const double time_ms = row.number(column);
    if (time_ms < 0) row.fail(std::string(column) + " is negative");
    if (std::isnan(time_ms)) return {};
    return time_ms * 1e-3;
}

/// Adds an operation measured alone.
void add_timed(const TableReader& row, const std::string& session, const Operation& operation, PublishedRows& rows) {
    const auto time = seconds(row, "latency_ms");
    if (!time || *time == 0) return rows.drop(not_measured);
    const std::string& device = row.text("device");
    rows.add(operation, {device_of(device), *time}, provenance(session + " " + row.text("split"), device));
}

// --- matrix products

void read_product(const TableReader& row, PublishedRows& rows) {
    const std::string& op = row.text("op");
    const std::int64_t batch = row.whole("batch"), m = row.whole("m"), n = row.whole("n"), k = row.whole("k");
    if (op == "bmm") {
        add_timed(row, "gemm", {"aten::bmm", {{"self", f32({batch, m, k})}, {"mat2", f32({batch, k, n})}}}, rows);
    } else if (op == "linear") {
        // torch.nn.Linear has a bias unless told otherwise.
        const Sizes input = batch == 1 ? Sizes{m, k} : Sizes{batch, m, k};
        add_timed(row, "gemm", {"aten::linear", {{"input", f32(input)}, {"weight", f32({n, k})}, {"bias", f32({n})}}},
                  rows);
    } else {
        rows.drop("an operation that joulecast does not know: " + op.substr(0, 40));
    }
}

// --- element-wise operations, softmax, layer norm

Operation vector_operation(std::string_view target, std::vector<Argument> further, const Sizes& sizes) {
    Operation operation{std::string(target), {{"self", f32(sizes)}}};
    for (Argument& argument : further) operation.arguments.push_back(std::move(argument));
    return operation;
}

std::optional<Operation> vector_operation(const std::string& op, const Sizes& sizes) {
    using Make = std::function<Operation(const Sizes&)>;
    const auto alone = [](const char* target) -> Make {
        return [=](const Sizes& s) { return vector_operation(target, {}, s); };
    };
    const auto pair = [](const char* target, const char* second) -> Make {
        return [=](const Sizes& s) { return vector_operation(target, {{second, f32(s)}}, s); };
    };
    // The table does not tell the scalar; it decides no cost.
    const auto scalar = [](const char* target, const char* second) -> Make {
        return [=](const Sizes& s) { return vector_operation(target, {{second, 2.0}}, s); };
    };
    static const std::map<std::string, Make> makers = {
        {"add", pair("aten::add.Tensor", "other")},
        {"addu", scalar("aten::add.Tensor", "other")},
        {"sub", pair("aten::sub.Tensor", "other")},
        {"subu", scalar("aten::sub.Tensor", "other")},
        {"mul", pair("aten::mul.Tensor", "other")},
        {"mulu", scalar("aten::mul.Tensor", "other")},
        {"div", pair("aten::div.Tensor", "other")},
        {"divu", scalar("aten::div.Tensor", "other")},
        {"pow", pair("aten::pow.Tensor_Tensor", "exponent")},
        {"powu", scalar("aten::pow.Tensor_Scalar", "exponent")},
        {"gelu", alone("aten::gelu")},
        {"relu", alone("aten::relu")},
        {"tanh", alone("aten::tanh")},
        {"softmax",
         [](const Sizes& s) { return vector_operation("aten::softmax.int", {{"dim", std::int64_t{-1}}}, s); }},
        {"ln",
         [](const Sizes& s) {
             const Sizes features{s.back()};
             return Operation{"aten::layer_norm",
                              {{"input", f32(s)},
                               {"normalized_shape", features},
                               {"weight", f32(features)},
                               {"bias", f32(features)}}};
         }},
    };
    const auto found = makers.find(op);
    if (found == makers.end()) return {};
    return found->second(sizes);
}

void read_vector(const TableReader& row, PublishedRows& rows) {
    const auto operation = vector_operation(row.text("op"), {row.whole("batch"), row.whole("hidden")});
    if (!operation) return rows.drop("an operation that joulecast does not know: " + row.text("op").substr(0, 40));
    add_timed(row, "vector", *operation, rows);
}

// --- convolutions

/// Without a bias: torch adds that in a kernel of its own, and implicit_convolve_sgemm rows count one kernel in all.
void read_convolution(const TableReader& row, PublishedRows& rows) {
    const std::int64_t image = row.whole("in_size"), kernel = row.whole("kernel_size"), in = row.whole("in_ch");
    const std::int64_t stride = row.whole("stride"), padding = row.whole("padding", 0);
    add_timed(row, "conv2d",
              {"aten::conv2d",
               {{"input", f32({row.whole("batch"), in, image, image})},
                {"weight", f32({row.whole("out_ch"), in, kernel, kernel})},
                {"stride", Sizes{stride, stride}},
                {"padding", Sizes{padding, padding}}}},
              rows);
}

// --- networks

struct NetworkName {
    std::string device, model, option;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;

    friend auto operator<=>(const NetworkName&, const NetworkName&) = default;
};

NetworkName network_name(const TableReader& row) {
    NetworkName network;
    network.device = row.text("device");
    network.model = row.text("model");
    network.option = row.text("option");
    if (network.model.empty()) row.fail("model is empty");
    const std::string& mode = row.text("mode");
    if (mode != "inf" && mode != "train") row.fail("mode is neither inf nor train");
    network.mode = mode == "train" ? Mode::training : Mode::inference;
    network.symbols = {{"batch", row.whole("batch")}, {"sequence", row.whole("seqlen")}};
    return network;
}

std::string option_reason(const NetworkName& network) {
    return "option " + network.option.substr(0, 40) + ": other calls than the plain network's, or several devices";
}

void read_network(const TableReader& row, PublishedRows& rows) {
    const NetworkName name = network_name(row);
    const auto time = seconds(row, "meas_e2e_ms");
    if (!name.option.empty()) return rows.drop(option_reason(name));
    if (!time || *time == 0) return rows.drop(not_measured);
    NetworkMeasurement network;
    network.model = name.model;
    network.symbols = name.symbols;
    network.mode = name.mode;
    PublishedTime published{device_of(name.device), *time};
    if (const auto forward = seconds(row, "meas_fwd_ms")) published.forward_s = *forward;
    rows.add(std::move(network), published, provenance("networks", name.device));
}

// --- the nodes of a network

/// "[[16, 512], [1]]" or "(16, 512)" or "(1,)": every list of numbers in it, none in "[]"; absent for other texts.
std::optional<std::vector<Sizes>> size_lists(std::string_view text) {
    const bool is_list = text.starts_with('[');
    std::vector<Sizes> lists;
    bool inside = false;
    while (!text.empty()) {
        const char c = text.front();
        const bool is_digit = c >= '0' && c <= '9';
        if (is_digit && !inside) return {};
        if (is_digit) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || lists.back().size() == 16) return {};
            lists.back().push_back(value);
            text.remove_prefix(static_cast<std::size_t>(end - text.data()));
            continue;
        }
        if (c == '[' || c == '(') {
            if (inside && !lists.back().empty()) return {};
            if (!inside && lists.size() == 64) return {};
            if (!inside) lists.emplace_back();
            inside = true;
        } else if (c == ']' || c == ')') {
            inside = false;
        } else if (c != ',' && c != ' ') {
            return {};
        }
        text.remove_prefix(1);
    }
    if (is_list && lists.size() == 1 && lists.front().empty()) lists.clear();
    return lists;
}

struct MeasuredNode {
    FxNode node;
    std::int64_t repeat = 1;
    std::optional<double> time_s;
    double forward_s = 0;
};

/// The rows of one network, which stand together.
class NodeTable {
  public:
    explicit NodeTable(PublishedRows& rows) : rows_(rows) {}

    void add(const TableReader& row) {
        NetworkName network = network_name(row);
        if (network != network_) {
            finish();
            if (!seen_.insert(network).second) row.fail("the rows of this network do not stand together");
            network_ = std::move(network);
        }
        if (!network_.option.empty()) return rows_.drop(option_reason(network_));
        if (nodes_.size() == most_nodes) row.fail("a network of more than 65536 nodes");
        if (auto node = read(row)) nodes_.push_back(*std::move(node));
    }

    void finish() {
        std::vector<FxNode> nodes;
        for (const MeasuredNode& measured : nodes_) nodes.push_back(measured.node);
        FxGraph graph{vocabulary(nodes), nullptr};
        std::map<std::string, NetworkOperationRow> lines;
        for (const MeasuredNode& measured : nodes_) {
            const FxCall call = aten_call(measured.node, graph);
            take(measured, call, lines);
            graph.transposed = is_transposition(measured.node) ? &measured.node : nullptr;
        }
        store(lines);
        nodes_.clear();
    }

  private:
    static constexpr std::size_t most_nodes = 65536;

    std::optional<MeasuredNode> read(const TableReader& row) {
        MeasuredNode measured;
        const auto inputs = size_lists(row.text("input_shapes"));
        const auto output = size_lists(row.text("output_shape"));
        if (!inputs || !output || output->size() != 1) {
            rows_.drop("shapes that are not lists of sizes");
            return {};
        }
        measured.repeat = row.whole("repeat");
        const auto forward = seconds(row, "fwd_ms");
        const auto backward = seconds(row, "bwd_ms"), accumulate = seconds(row, "acc_ms");
        if (forward) measured.time_s = *forward + backward.value_or(0) + accumulate.value_or(0);
        measured.forward_s = forward.value_or(0);
        const std::string& dtype = row.text("dtype");
        measured.node = {row.text("fx_op"),       row.text("target"), *inputs,
                         output->front(),         parse_dtype(dtype), network_.mode == Mode::training,
                         backward.value_or(0) > 0};
        if (!dtype.empty() && !measured.node.dtype) row.fail("dtype '" + printable(dtype, 40) + "' is not known");
        return measured;
    }

    /// Counts the node's time, and its call in the network's list.
    void take(const MeasuredNode& measured, const FxCall& call, std::map<std::string, NetworkOperationRow>& lines) {
        if (!call.operation) return rows_.drop(call.why_none);
        Operation operation;
        try {
            operation = canonical(*call.operation);
            total_counts(operation);
        } catch (const FormatError&) {
            return rows_.drop("sizes that cannot be");
        }
        auto& line = lines[signature(operation)];
        line.operation = operation;
        line.count = (line.model.empty() ? 0 : line.count) + measured.repeat;
        line.model = network_.model;
        if (!call.is_known) return rows_.drop(call.why_none);
        if (!measured.time_s || *measured.time_s == 0) return rows_.drop(not_measured);
        const std::string session =
            "nodes " + network_.model + " " + std::string(name(network_.mode)) + " " + symbols_text(network_.symbols);
        rows_.add(operation, {device_of(network_.device), *measured.time_s, measured.forward_s},
                  provenance(session, network_.device));
    }

    /// Devices that ran the same network should have run the same calls: its list is stored once, as of the first one.
    void store(std::map<std::string, NetworkOperationRow>& lines) {
        if (lines.empty()) return;
        NetworkName anywhere = network_;
        anywhere.device.clear();
        std::string text;
        for (const auto& [operation, line] : lines) text += operation + std::to_string(line.count) + '\n';
        const std::size_t calls = std::hash<std::string>{}(text);
        const auto [place, is_new] = listed_.try_emplace(std::move(anywhere), calls);
        if (!is_new) {
            if (place->second != calls) rows_.note(other_calls());
            return;
        }
        for (auto& [operation, line] : lines) {
            line.symbols = network_.symbols;
            line.mode = network_.mode;
            line.source = "neusight";
            rows_.add(line);
        }
    }

    std::string other_calls() const {
        return network_.model.substr(0, 40) + " (" + std::string(name(network_.mode)) + ", " +
               symbols_text(network_.symbols) + ") makes other calls on " + network_.device.substr(0, 40) +
               " than on the device before, whose list is kept";
    }

    PublishedRows& rows_;
    NetworkName network_;
    std::vector<MeasuredNode> nodes_;
    std::set<NetworkName> seen_;
    std::map<NetworkName, std::size_t> listed_;  ///< without device -> hash of the calls
};

// --- the tables

struct Table {
    std::string_view mark;  ///< no other table has this column
    PublishedColumns columns;
    void (*read)(const TableReader&, PublishedRows&);
};

const std::vector<Table>& tables() {
    static const std::vector<Table> tables = {
        {"k",
         {{"split", "op", "device", "latency_ms", "batch", "m", "n", "k"}, {"kernel", "grid", "block"}},
         &read_product},
        {"hidden",
         {{"split", "op", "device", "latency_ms", "batch", "hidden"}, {"kernel", "grid", "block"}},
         &read_vector},
        {"out_ch",
         {{"split", "device", "latency_ms", "batch", "in_ch", "out_ch", "kernel_size", "in_size", "stride", "padding"},
          {"n_kernels", "main_kernel", "grid", "block"}},
         &read_convolution},
        {"meas_e2e_ms",
         {{"device", "model", "mode", "seqlen", "batch", "option", "meas_e2e_ms", "meas_fwd_ms"},
          {"meas_bwdall_ms", "neusight_e2e_ms", "neusight_fwd_ms", "neusight_bwdall_ms", "roofline_e2e_ms",
           "roofline_fwd_ms", "roofline_bwdall_ms", "habitat_e2e_ms", "habitat_fwd_ms", "habitat_bwdall_ms",
           "li_et_al_e2e_ms", "li_et_al_fwd_ms", "li_et_al_bwdall_ms"}},
         &read_network},
        {"fx_op",
         {{"device", "model", "mode", "seqlen", "batch", "option", "repeat", "fx_op", "target", "input_shapes",
           "output_shape", "dtype", "fwd_ms", "bwd_ms", "acc_ms"},
          {"idx", "name"}},
         nullptr},
    };
    return tables;
}

const Table& table_of(const TableReader& table) {
    std::string marks;
    for (const Table& known : tables()) {
        if (table.has(known.mark)) return known;
        marks += (marks.empty() ? "" : ", ") + std::string(known.mark);
    }
    table.fail("this is no table of NeuSight: the header has none of the columns " + marks);
}

}  // namespace

Import import_neusight(Dataset& dataset, std::istream& input, const std::string& name) {
    TableReader table(input, name);
    const Table& known = table_of(table);
    PublishedRows rows(dataset);
    rows.account_for(table, known.columns);
    NodeTable nodes(rows);
    while (table.next()) {
        if (known.read != nullptr) {
            known.read(table, rows);
        } else {
            nodes.add(table);
        }
    }
    nodes.finish();
    return rows.commit();
}

}  // namespace joulecast
