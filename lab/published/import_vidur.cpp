#include "lab/published/import_vidur.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "lab/published/serving_layer.h"

namespace joulecast {
namespace {

/// A row's layer on one of `tp` devices; names as in the table.
struct Layer {
    std::int64_t tokens = 0;
    std::int64_t embedding = 0;
    std::int64_t feed_forward = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t vocabulary = 0;
    std::int64_t tp = 0;
    bool gated = false;
    bool has_second_norm = false;  ///< attention and feed-forward one after the other, not beside each other
};

TensorType half(Sizes sizes) {
    return {Dtype::f16, std::move(sizes)};
}

/// The table does not tell of biases, and most of these models have none.
Operation linear(std::int64_t tokens, std::int64_t in, std::int64_t out) {
    return serving_linear(Dtype::f16, tokens, in, out);
}

std::optional<Operation> embedding(const Layer& l) {
    return Operation{
        "aten::embedding",
        {{"weight", half({l.vocabulary / l.tp, l.embedding})}, {"indices", TensorType{Dtype::i64, {l.tokens}}}}};
}

/// The source allows a second norm with RMS norm only; its models without one have layer norm.
std::optional<Operation> norm(const Layer& l) {
    const Argument input{"input", half({l.tokens, l.embedding})};
    const Argument shape{"normalized_shape", Sizes{l.embedding}};
    const Argument weight{"weight", half({l.embedding})};
    if (l.has_second_norm) return Operation{"aten::rms_norm", {input, shape, weight}};
    return Operation{"aten::layer_norm", {input, shape, weight, {"bias", half({l.embedding})}}};
}

std::int64_t head_size(const Layer& l) {
    return l.embedding / l.heads;
}

std::optional<Operation> attention_in(const Layer& l) {
    return linear(l.tokens, l.embedding, (l.heads + 2 * l.kv_heads) * head_size(l) / l.tp);
}

std::optional<Operation> attention_out(const Layer& l) {
    return linear(l.tokens, l.heads * head_size(l) / l.tp, l.embedding);
}

std::optional<Operation> up(const Layer& l) {
    return linear(l.tokens, l.embedding, (l.gated ? 2 : 1) * l.feed_forward / l.tp);
}

std::optional<Operation> activation(const Layer& l) {
    if (l.gated) return {};
    return Operation{"aten::gelu", {{"self", half({l.tokens, l.feed_forward / l.tp})}}};
}

std::optional<Operation> down(const Layer& l) {
    return linear(l.tokens, l.feed_forward / l.tp, l.embedding);
}

std::optional<Operation> residual(const Layer& l) {
    if (!l.has_second_norm) return {};
    const TensorType type = half({l.tokens, l.embedding});
    return Operation{"aten::add.Tensor", {{"self", type}, {"other", type}}};
}

std::optional<Operation> none(const Layer&) {
    return {};
}

/// A column of times: the operation, and why there may be none.
struct Timed {
    std::string_view column;
    std::optional<Operation> (*operation)(const Layer&);
    const char* why_none = "";
};

constexpr Timed timed[] = {
    {"emb_ms", &embedding},
    {"input_layernorm_ms", &norm},
    {"attn_pre_proj_ms", &attention_in},
    {"attn_rope_ms", &none, "attn_rope: a kernel of its own, no ATen operation"},
    {"attn_post_proj_ms", &attention_out},
    {"post_attention_layernorm_ms", &norm},
    {"mlp_up_proj_ms", &up},
    {"mlp_act_ms", &activation, "mlp_act, gated: SiLU and product in one kernel, no ATen operation"},
    {"mlp_down_proj_ms", &down},
    {"add_ms", &residual, "add of three tensors: two ATen operations"},
};

/// Sizes above this are no model's; below it the products in `timed` cannot overflow.
constexpr std::int64_t most_size = std::int64_t{1} << 24;

std::int64_t size(const TableReader& row, std::string_view column) {
    const std::int64_t value = row.whole(column);
    if (value > most_size) row.fail(std::string(column) + " is above 2^24");
    return value;
}

bool flag(const TableReader& row, std::string_view column) {
    const std::string& text = row.text(column);
    if (text != "True" && text != "False") row.fail(std::string(column) + " is neither True nor False");
    return text == "True";
}

Layer layer_of(const TableReader& row) {
    Layer l;
    l.tokens = size(row, "num_tokens");
    l.embedding = size(row, "n_embd");
    l.feed_forward = size(row, "n_ff");
    l.heads = size(row, "n_head");
    l.kv_heads = size(row, "n_kv_head");
    l.vocabulary = size(row, "vocab");
    l.tp = size(row, "tp");
    l.gated = flag(row, "gated_mlp");
    l.has_second_norm = !row.text("post_attention_layernorm_ms").empty();
    return l;
}

/// Vidur's A100 has 80 GB (its device configuration) and sits in pairs bridged by NVLink, as PCIe cards do.
std::string_view device_of(std::string_view gpu) {
    return gpu == "a100" ? "a100-80g-pcie" : gpu;
}

bool is_divisible(const Layer& l) {
    return l.embedding % l.heads == 0 && l.heads % l.tp == 0 && l.kv_heads * head_size(l) % l.tp == 0 &&
           l.feed_forward % l.tp == 0 && l.vocabulary % l.tp == 0;
}

/// A row is one profile of a model; its columns were measured in one go.
Provenance provenance_of(const TableReader& row) {
    Provenance from;
    from.session = "vidur " + row.text("model") + " tp=" + row.text("tp");
    from.worker = "Vidur's profiler";
    from.framework = "torch, kernels of Sarathi-Serve";
    from.governor = "unknown";
    from.method = "median of 20";
    from.settings = R"({"statistic":"median of 20 calls","timer":"kernel times of the profiler","resolution_s":5e-7})";
    from.source = "vidur";
    return from;
}

const PublishedColumns& columns() {
    static const PublishedColumns columns = [] {
        PublishedColumns list;
        list.used = {"gpu", "model", "n_head", "n_kv_head", "n_embd", "n_ff", "vocab", "gated_mlp", "tp", "num_tokens"};
        for (const Timed& t : timed) list.used.push_back(t.column);
        return list;
    }();
    return columns;
}

void read_row(const TableReader& row, PublishedRows& rows) {
    const Layer layer = layer_of(row);
    const bool fits = is_divisible(layer);
    const Provenance provenance = provenance_of(row);
    for (const Timed& t : timed) {
        const double time_ms = row.number(t.column);
        if (time_ms < 0) row.fail(std::string(t.column) + " is negative");
        const auto operation = fits ? t.operation(layer) : std::nullopt;
        if (std::isnan(time_ms)) {
            rows.drop("not measured");
        } else if (!fits) {
            rows.drop("sizes that the tensor parallel degree does not divide");
        } else if (!operation) {
            rows.drop(t.why_none);
        } else if (time_ms == 0) {
            rows.drop("a time of zero: shorter than the table resolves");
        } else {
            rows.add(*operation, {.device = device_of(row.text("gpu")), .time_s = time_ms * 1e-3, .host = Host::graph},
                     provenance);
        }
    }
}

}  // namespace

Import import_vidur(Dataset& dataset, std::istream& input, const std::string& name) {
    TableReader table(input, name);
    PublishedRows rows(dataset);
    rows.account_for(table, columns());
    while (table.next()) read_row(table, rows);
    return rows.commit();
}

}  // namespace joulecast
