#include "lab/published/import_llmservingsim.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/units/printable.h"
#include "lab/published/serving_layer.h"
#include "lab/published/table_operation.h"

namespace joulecast {
namespace {

/// Of a model's published configuration; the tables name the model only.
struct ModelSizes {
    std::string_view model;  ///< the last part of its name
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t depth = 0;         ///< elements of a head
    std::int64_t feed_forward = 0;  ///< 0: experts only
    std::int64_t vocabulary = 0;
    std::int64_t tp = 1;  ///< devices that share a layer

    /// All that is shared can be: each device has as much.
    bool is_divisible() const {
        return heads % tp == 0 && kv_heads % tp == 0 && feed_forward % tp == 0 && vocabulary % tp == 0;
    }
};

/// config.json of each model (facts): hidden_size, num_attention_heads, num_key_value_heads, head_dim,
/// intermediate_size, vocab_size.
constexpr std::array models{
    ModelSizes{"Llama-3.1-8B", 4096, 32, 8, 128, 14336, 128256},
    ModelSizes{"Llama-3.1-70B", 8192, 64, 8, 128, 28672, 128256},
    ModelSizes{"Mixtral-8x7B-v0.1", 4096, 32, 8, 128, 0, 32000},
    ModelSizes{"Phi-mini-MoE-instruct", 4096, 32, 8, 128, 0, 32064},
    ModelSizes{"Qwen3-32B", 5120, 64, 8, 128, 25600, 151936},
    ModelSizes{"Qwen3-30B-A3B", 2048, 32, 4, 128, 0, 151936},
};

struct Profile {
    std::string gpu;
    std::string model;
    std::int64_t tp = 1;
};

/// "RTXPRO6000/Llama-3.1-8B/tp1"
Profile profile_of(const TableReader& row) {
    const std::string& text = row.text("profile");
    const std::size_t first = text.find('/');
    const std::size_t last = text.rfind("/tp");
    if (first == std::string::npos || last == std::string::npos || last <= first)
        row.fail("profile '" + printable(text, 40) + "' is not GPU/MODEL/tpN");
    Profile profile{text.substr(0, first), text.substr(first + 1, last - first - 1)};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + last + 3, end, profile.tp);
    if (error != std::errc() || stop != end || profile.tp < 1)
        row.fail("profile '" + printable(text, 40) + "' does not end in /tpN");
    return profile;
}

std::optional<ModelSizes> sizes_of(const Profile& profile) {
    const std::string_view name = std::string_view(profile.model).substr(profile.model.rfind('/') + 1);
    const auto* const found =
        std::find_if(models.begin(), models.end(), [&](const ModelSizes& known) { return known.model == name; });
    if (found == models.end()) return std::nullopt;
    ModelSizes sizes = *found;
    sizes.tp = profile.tp;
    return sizes;
}

/// Of a product's weight, on one of the devices that share it.
struct Weight {
    std::string_view layer;
    std::int64_t (*in)(const ModelSizes&);   ///< columns; 0 for a model without the layer
    std::int64_t (*out)(const ModelSizes&);  ///< rows; likewise
};

std::int64_t hidden(const ModelSizes& s) {
    return s.hidden;
}
std::int64_t of_heads(const ModelSizes& s) {
    return s.heads * s.depth / s.tp;
}
std::int64_t of_kv_heads(const ModelSizes& s) {
    return s.kv_heads * s.depth / s.tp;
}
std::int64_t of_all_heads(const ModelSizes& s) {
    return of_heads(s) + 2 * of_kv_heads(s);
}
std::int64_t feed_forward(const ModelSizes& s) {
    return s.feed_forward / s.tp;
}
std::int64_t gate_and_up(const ModelSizes& s) {
    return 2 * feed_forward(s);
}
std::int64_t vocabulary(const ModelSizes& s) {
    return s.vocabulary / s.tp;
}

constexpr std::array weights{
    Weight{"qkv_proj", hidden, of_all_heads},  Weight{"q_proj", hidden, of_heads},
    Weight{"k_proj", hidden, of_kv_heads},     Weight{"v_proj", hidden, of_kv_heads},
    Weight{"o_proj", of_heads, hidden},        Weight{"gate_up_proj", hidden, gate_and_up},
    Weight{"gate_proj", hidden, feed_forward}, Weight{"up_proj", hidden, feed_forward},
    Weight{"down_proj", feed_forward, hidden}, Weight{"lm_head", hidden, vocabulary},
};

RowMeaning product(const TableReader& row, const ModelSizes& sizes, std::string_view layer, std::int64_t tokens) {
    const auto* const found =
        std::find_if(weights.begin(), weights.end(), [&](const Weight& weight) { return weight.layer == layer; });
    if (found == weights.end()) return printable(layer, 20) + ": no single ATen operation";
    const std::int64_t in = found->in(sizes);
    const std::int64_t out = found->out(sizes);
    if (in == 0 || out == 0) return std::string(layer) + " of a model that has experts only";
    return operation_of(row, [&] { return serving_linear(Dtype::bf16, tokens, in, out); });
}

/// A chunk of one prompt, or one token each of some sequences, or both in one kernel.
RowMeaning attention(const TableReader& row, const ModelSizes& sizes) {
    const std::int64_t prompt = row.whole("prefill_chunk", 0);
    const std::int64_t before = row.whole("kv_prefill", 0);
    const std::int64_t sequences = row.whole("n_decode", 0);
    const std::int64_t keys = row.whole("kv_decode", 0);
    if (prompt > 0 && sequences > 0) return std::string("prompt and generation in one kernel");
    if (prompt > 0 && before > 0) return std::string("prompt behind earlier tokens: torch's causal flag differs");
    if (prompt == 0 && (sequences == 0 || keys == 0)) return std::string("attention of nothing");
    ServingHeads heads;
    heads.heads = sizes.heads / sizes.tp;
    heads.kv_heads = sizes.kv_heads / sizes.tp;
    heads.depth = sizes.depth;
    heads.is_causal = prompt > 0;
    heads.batch = prompt > 0 ? 1 : sequences;
    heads.queries = prompt > 0 ? prompt : 1;
    heads.keys = prompt > 0 ? prompt : keys;
    return operation_of(row, [&] { return serving_attention(heads); });
}

RowMeaning meaning_of_kernel(const TableReader& row, const ModelSizes& sizes) {
    const std::string& kind = row.text("kind");
    if (kind == "attention") return attention(row, sizes);
    const std::string& layer = row.text("layer");
    if (kind == "per_sequence") return product(row, sizes, layer, row.whole("sequences"));
    if (kind != "dense") return printable(kind, 20) + ": kernels of experts, no ATen operation";
    if (layer == "embedding") return std::string("embedding: its rows stay in the last cache from call to call");
    return product(row, sizes, layer, row.whole("tokens"));
}

/// Of what is no product here, each layer is several kernels of the model's Python.
RowMeaning meaning_of_layer(const TableReader& row, const ModelSizes& sizes) {
    return product(row, sizes, row.text("layer"), row.whole("tokens"));
}

/// One of the two forms.
struct Form {
    std::string_view telling_column;
    PublishedColumns columns;
    std::string_view time_column;
    Profile (*profile)(const TableReader&);
    RowMeaning (*meaning)(const TableReader&, const ModelSizes&);
    const char* framework;
    const char* settings;
};

const std::array<Form, 2>& forms() {
    static const std::array<Form, 2> list{
        Form{"profile",
             {{"profile", "kind", "layer", "tokens", "sequences", "prefill_chunk", "kv_prefill", "n_decode",
               "kv_decode", "time_us"},
              {"activated_experts"}},
             "time_us",
             profile_of,
             meaning_of_kernel,
             "vllm 0.19",
             R"({"time":"mean of 3, CUDA kernels of one layer","clock":"not told"})"},
        Form{"latency_us",
             {{"gpu", "model", "tp", "layer", "tokens", "latency_us"}, {}},
             "latency_us",
             [](const TableReader& row) { return Profile{row.text("gpu"), row.text("model"), row.whole("tp")}; },
             meaning_of_layer,
             "torch",
             R"({"time":"CUDA kernels of one layer by torch's profiler","clock":"not told"})"},
    };
    return list;
}

const Form& form_of(const TableReader& table) {
    for (const Form& form : forms())
        if (table.has(form.telling_column)) return form;
    if (table.has("median_us"))
        table.fail(
            "LLMServingSim's older attention profiles are not read: of large batches they tell times in which "
            "the card cannot have read the keys");
    table.fail(
        "this is no table of LLMServingSim that is known: neither of the columns profile and latency_us is there");
}

Provenance provenance_of(const Form& form, const Profile& profile) {
    Provenance from;
    from.session = "llmservingsim " + profile.gpu + " " + profile.model + " tp=" + std::to_string(profile.tp) + " " +
                   form.framework;
    from.worker = "LLMServingSim's profiler";
    from.framework = form.framework;
    from.governor = "unknown";
    from.method = "kernels of a profiler";
    from.settings = form.settings;
    from.source = "llmservingsim";
    return from;
}

void take_row(const TableReader& row, const Form& form, PublishedRows& rows) {
    const double time_s = row.positive(form.time_column) * 1e-6;
    const Profile profile = form.profile(row);
    const auto sizes = sizes_of(profile);
    if (!sizes) return rows.drop("model " + printable(profile.model, 40) + ": its sizes are not known");
    if (!sizes->is_divisible()) return rows.drop("sizes that the tensor parallel degree does not divide");
    const RowMeaning meaning = form.meaning(row, *sizes);
    if (const auto* why = std::get_if<std::string>(&meaning)) return rows.drop(*why);
    rows.add(std::get<Operation>(meaning), {.device = profile.gpu, .time_s = time_s, .host = Host::graph},
             provenance_of(form, profile));
}

}  // namespace

Import import_llmservingsim(Dataset& dataset, std::istream& input, const std::string& name) {
    TableReader table(input, name);
    PublishedRows rows(dataset);
    const Form& form = form_of(table);
    rows.account_for(table, form.columns);
    while (table.next()) take_row(table, form, rows);
    return rows.commit();
}

}  // namespace joulecast
