#include "lab/published/import_aiconfigurator.h"

#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/dataset/unpack.h"
#include "joulecast/meter/nvidia_sensor.h"
#include "joulecast/units/printable.h"
#include "lab/published/serving_layer.h"
#include "lab/published/table_operation.h"

namespace joulecast {
namespace {

/// What the collector calls "fp8" (static scales) is f8e4m3fn.
constexpr const char* bf16_word = "bfloat16";
constexpr const char* fp8_word = "fp8";
/// torch._scaled_mm takes sizes of the second operand in steps of this.
constexpr std::int64_t fp8_granule = 16;

std::string shown(const std::string& text) {
    return printable(text, 20);
}

TensorType matrix(Dtype dtype, std::int64_t rows, std::int64_t columns) {
    return {dtype, {rows, columns}};
}

/// y = x W^T: m tokens, n outputs, k inputs. bf16 is the collectors' linear
/// layer without a bias; fp8 what
/// `--precision fp8` makes of one (graph/fp8.cpp), so that forecasts find it.
RowMeaning matrix_product(const TableReader& row) {
    const std::int64_t m = row.whole("m");
    const std::int64_t n = row.whole("n");
    const std::int64_t k = row.whole("k");
    const std::string& dtype = row.text("dtype");
    if (dtype == bf16_word) return operation_of(row, [&] { return serving_linear(Dtype::bf16, m, k, n); });
    if (dtype != fp8_word) return "dtype " + shown(dtype) + ": no tensor type of ours";
    if (n % fp8_granule != 0 || k % fp8_granule != 0) return std::string("fp8 with n or k no multiple of 16");
    const TensorType scale{Dtype::f32, {}};
    return operation_of(row, [&] {
        return Operation{"aten::_scaled_mm",
                         {{"self", matrix(Dtype::f8e4m3fn, m, k)},
                          {"mat2", strided(Dtype::f8e4m3fn, {k, n}, {1, k})},
                          {"scale_a", scale},
                          {"scale_b", scale},
                          {"out_dtype", Dtype::bf16},
                          {"use_fast_accum", true}}};
    });
}

/// "context": the whole prompt, causal. "generation": one token that sees
/// `step` earlier ones and itself (the source's own reader takes isl + step);
/// no causal flag, since torch would let it see the first key only.
RowMeaning decoder_attention(const TableReader& row) {
    const std::string& phase = row.text("phase");
    if (phase != "context" && phase != "generation") row.fail("phase is '" + shown(phase) + "'");
    const bool is_context = phase == "context";
    ServingHeads h;
    h.batch = row.whole("batch");
    h.queries = row.whole("seqlen");
    const std::int64_t step = row.whole("step", 0);
    h.keys = h.queries + step;
    h.heads = row.whole("n_heads");
    h.kv_heads = row.whole("n_kv_heads");
    h.depth = row.whole("head_dim");
    h.is_causal = is_context;
    if (h.heads % h.kv_heads != 0) row.fail("n_heads is no multiple of n_kv_heads");
    if (row.text("attn_dtype") != bf16_word) return "attention in " + shown(row.text("attn_dtype"));
    if (row.text("kv_dtype") != bf16_word)
        return "keys and values in " + shown(row.text("kv_dtype")) + ": torch's attention takes one type";
    if (!row.text("window").empty() && row.whole("window", 0) != 0)
        return std::string("sliding window: no argument of torch's attention");
    if (is_context && step != 0) return std::string("context behind earlier tokens: torch's causal flag differs");
    if (!is_context && h.queries != 1) return std::string("generation of several tokens at once");
    return operation_of(row, [&] { return serving_attention(h); });
}

RowMeaning encoder_attention(const TableReader& row) {
    ServingHeads h;
    h.batch = row.whole("batch");
    h.queries = h.keys = row.whole("seqlen");
    h.heads = h.kv_heads = row.whole("n_heads");
    h.depth = row.whole("head_dim");
    if (row.text("dtype") != bf16_word) return "attention in " + shown(row.text("dtype"));
    return operation_of(row, [&] { return serving_attention(h); });
}

struct Kind {
    const char* name;
    std::string_view telling_column;
    std::vector<std::string_view> columns;
    RowMeaning (*meaning)(const TableReader&);
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> list = {
        {"gemm", "m", {"dtype", "m", "n", "k"}, &matrix_product},
        {"attention",
         "phase",
         {"phase", "attn_dtype", "kv_dtype", "batch", "seqlen", "step", "n_heads", "n_kv_heads", "head_dim", "window"},
         &decoder_attention},
        {"encoder_attention", "n_heads", {"dtype", "batch", "seqlen", "n_heads", "head_dim"}, &encoder_attention},
    };
    return list;
}

const Kind& kind_of(const TableReader& table) {
    for (const Kind& kind : kinds())
        if (table.has(kind.telling_column)) return kind;
    table.fail(
        "this is no table of AIConfigurator that is known: none of the "
        "columns m, phase and n_heads is there");
}

/// The A100 of its system files has 80 GiB; the other names are those of the
/// data sheets.
std::string sheet_name(const std::string& gpu) {
    return gpu == "A100-SXM" ? "a100-80g-sxm" : gpu;
}

/// Mean NVML power of the run that was timed. The source's own flag, from the
/// latency: calls of 0.3 ms and longer are "good", shorter runs catch few
/// samples and the tail of what ran before.
std::optional<EnergySummary> energy(const TableReader& row, double time_s) {
    const auto power_w = row.optional_positive("power_w");
    if (!power_w) return {};
    const std::string& quality = row.text("power_quality");
    if (quality != "good" && quality != "fair" && quality != "rough")
        row.fail("power_quality is '" + shown(quality) + "', expected good, fair or rough");
    EnergySummary energy;
    energy.power_w = *power_w;
    energy.energy_j = *power_w * time_s;
    energy.gain_error = nvidia_sensor_gain_error;
    energy.meter = "nvml power each 100 ms (AIConfigurator)";
    energy.suspect = quality != "good";
    return energy;
}

/// One session for each table, device and engine: each was collected in one go,
/// and the same shape stands in several.
Provenance provenance_of(const TableReader& row, const std::string& table, const std::string& device) {
    const std::string engine = row.text("backend") + " " + row.text("version");
    Provenance provenance;
    provenance.session = "aiconfigurator " + table + " " + device + " " + engine;
    provenance.worker = "AIConfigurator collector";
    provenance.framework = engine;
    provenance.governor = "unknown";
    provenance.method = "aiconfigurator";
    provenance.settings = R"({"clock":"highest asked, real one not logged","time":"mean of CUDA graph replays"})";
    provenance.source = "aiconfigurator";
    return provenance;
}

/// Also of a row that means nothing: its numbers are checked like all others.
Measurement measurement_of(const TableReader& row, const RowMeaning& meaning) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    Measurement m;
    if (const auto* operation = std::get_if<Operation>(&meaning)) m.operation = *operation;
    m.asked.host = Host::graph;
    m.asked.power_limit_w = row.optional_positive("power_limit_w").value_or(unknown);
    m.real = m.asked;
    m.time.mean_s = m.time.median_s = row.positive("latency_ms") * 1e-3;  // one number stands for both
    m.energy = energy(row, m.time.mean_s);
    if (!m.energy) m.energy_missing_reason = "the table tells no power";
    if (m.energy && m.energy->suspect) m.message = "power_quality " + row.text("power_quality");
    if (m.operation.target == "aten::_scaled_mm")
        m.message += (m.message.empty() ? "" : "; ") + std::string("with the quantisation of the activation");
    m.working_set_bytes = unknown;
    m.wall_s = unknown;
    return m;
}

void take_row(const TableReader& row, const Kind& kind, PublishedRows& rows) {
    const RowMeaning meaning = kind.meaning(row);
    const Measurement measurement = measurement_of(row, meaning);
    if (const auto* why = std::get_if<std::string>(&meaning)) return rows.drop(*why);
    OperationRow stored{0, measurement, Mode::inference, {}};
    const std::string gpu = sheet_name(row.text("gpu"));
    const Device* device = rows.device(gpu);
    if (device == nullptr) return rows.drop(PublishedRows::no_sheet(gpu));
    stored.measurement.asked.device = stored.measurement.real.device = device->id;
    const std::string table = std::string(kind.name) + (row.has("power_w") ? "_with_power" : "_latency");
    stored.provenance = provenance_of(row, table, device->id);
    rows.add(std::move(stored));
}

}  // namespace

Import import_aiconfigurator(Dataset& dataset, std::istream& input, const std::string& name) {
    std::istringstream text(read_unpacked(input, name));
    TableReader table(text, name);
    PublishedRows rows(dataset);
    const Kind& kind = kind_of(table);
    auto columns = kind.columns;
    columns.insert(columns.end(), {"gpu", "backend", "version", "latency_ms"});
    if (table.has("power_w")) columns.insert(columns.end(), {"power_w", "power_limit_w", "power_quality"});
    rows.account_for(table, {columns, {}});
    while (table.next()) take_row(table, kind, rows);
    return rows.commit();
}

}  // namespace joulecast
