#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <string>

#include "dataset/samples.h"
#include "joulecast/dataset/import.h"
#include "joulecast/error.h"
#include "joulecast/graph/operation.h"

namespace joulecast::testing {

using Importer = std::function<Import(Dataset&, std::istream&, const std::string&)>;

/// Imports a text into a fresh database, or more into the same one.
class ImportFolder : public DatasetFolder {
  protected:
    Import import_text(const Importer& importer, const std::string& text, const std::string& name = "t.csv") {
        Dataset into(folder / "a.db");
        std::istringstream input(text);
        return importer(into, input, name);
    }
    /// The error of a text that must leave the database empty.
    std::string rejected(const Importer& importer, const std::string& text, const std::string& name = "t.csv") {
        std::string message = "no error";
        try {
            import_text(importer, text, name);
        } catch (const Error& error) {
            message = error.what();
        }
        const Dataset empty = stored();
        EXPECT_TRUE(empty.operations().empty() && empty.networks().empty() && empty.devices().empty());
        return message;
    }
    /// Median seconds by signature; of repeats the last.
    std::map<std::string, double> times(const std::string& device) const {
        std::map<std::string, double> all;
        for (const OperationRow& row : stored().operations(device))
            all[signature(row.measurement.operation)] = row.measurement.time.median_s;
        return all;
    }
    Dataset stored() const { return Dataset(folder / "a.db"); }
};

inline std::int64_t dropped(const Import& counts) {
    return std::accumulate(counts.dropped.begin(), counts.dropped.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& reason) { return sum + reason.second; });
}

/// A prepared published table, or an empty path where $JOULECAST_DATA is unset or lacks it.
inline std::filesystem::path published_table(const std::string& name) {
    const char* folder = std::getenv("JOULECAST_DATA");
    if (folder == nullptr || *folder == 0) return {};
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    return std::filesystem::exists(path) ? path : std::filesystem::path();
}

/// Header and every `step`th line of a table without line breaks in fields: all lines take long under sanitizers.
inline std::string sampled_lines(const std::filesystem::path& path, std::int64_t step) {
    std::ifstream input(path);
    std::string text, line;
    for (std::int64_t i = 0; std::getline(input, line); ++i)
        if (i == 0 || (i - 1) % step == 0) text += line + "\n";
    return text;
}

inline std::int64_t rows_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n') - 1;  // the header
}

}  // namespace joulecast::testing
