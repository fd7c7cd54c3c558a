// Tables that a user may bring from anywhere, as `joulecast import SOURCE` reads them: the first line of the input
// names the source, the rest is the file. Nothing but Error may come of one, and then nothing of it is stored. What is
// taken is accounted for, adds nothing when it is read again, and survives an export.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import_smi_log.h"
#include "joulecast/dataset/import_sweep.h"
#include "joulecast/error.h"
#include "lab/published/import_aiconfigurator.h"
#include "lab/published/import_energaizer.h"
#include "lab/published/import_llmservingsim.h"
#include "lab/published/import_neusight.h"
#include "lab/published/import_nicolai.h"
#include "lab/published/import_vidur.h"

namespace {

using joulecast::Dataset;
using joulecast::Import;

Import import_own(Dataset& dataset, std::istream& input, const std::string& name) {
    const auto counts = joulecast::import_csv(dataset, input, name);
    Import all;
    all.rows = all.used = counts.rows;
    all.added = counts.added;
    return all;
}

Import import_thesis(Dataset& dataset, std::istream& input, const std::string& name) {
    const auto network = [](const std::string& model, std::int64_t size) { return model + std::to_string(size); };
    return joulecast::import_nicolai(dataset, input, name, network);
}

Import import_log(Dataset& dataset, std::istream& input, const std::string& name) {
    joulecast::LoggedRun run;
    run.device = "a30";
    run.model = "net";
    run.calls = 10;
    return joulecast::import_smi_log(dataset, input, name, run);
}

struct Source {
    std::string_view name;
    Import (*read)(Dataset&, std::istream&, const std::string&);
};

constexpr Source sources[] = {
    {"csv", import_own},
    {"nicolai", import_thesis},
    {"neusight", joulecast::import_neusight},
    {"vidur", joulecast::import_vidur},
    {"aiconfigurator", joulecast::import_aiconfigurator},
    {"energaizer", joulecast::import_energaizer},
    {"llmservingsim", joulecast::import_llmservingsim},
    {"sweep", joulecast::import_sweep},
    {"smi-log", import_log},
};

const Source* source_named(std::string_view name) {
    for (const Source& source : sources)
        if (source.name == name) return &source;
    return nullptr;
}

Import read(const Source& source, Dataset& dataset, const std::string& table) {
    std::istringstream input(table);
    return source.read(dataset, input, "fuzz");
}

bool is_empty(const Dataset& dataset) {
    return dataset.devices().empty() && dataset.row_groups().empty() && dataset.references().empty() &&
           dataset.network_operations().empty();
}

void require(bool holds) {
    if (!holds) std::abort();
}

std::string exported(const Dataset& dataset) {
    std::ostringstream text;
    joulecast::export_csv(dataset, text);
    return text.str();
}

/// Whatever was accepted.
void use(const Source& source, Dataset& dataset, const std::string& table, const Import& counts) {
    std::int64_t dropped = 0;
    for (const auto& [why, rows] : counts.dropped) dropped += rows;
    require(counts.used >= 0 && counts.rows == counts.used + dropped);
    require(read(source, dataset, table).added == 0);
    const std::string text = exported(dataset);
    Dataset other(":memory:");
    std::istringstream input(text);
    joulecast::import_csv(other, input, "export");
    require(exported(other) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\n');
    const Source* source = end == std::string_view::npos ? nullptr : source_named(text.substr(0, end));
    if (source == nullptr) return -1;  // of no use to start from
    const std::string table(text.substr(end + 1));
    // Making a database costs more than most inputs: one serves until something was stored in it.
    static std::optional<Dataset> dataset;
    if (!dataset) dataset.emplace(":memory:");
    try {
        const Import counts = read(*source, *dataset, table);
        use(*source, *dataset, table, counts);
        dataset.reset();
    } catch (const joulecast::Error&) {
        require(is_empty(*dataset));
    }
    return 0;
}
