#include "cli/diff_databases.h"

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/terminal.h"
#include "joulecast/evaluate/agreement.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t usual_lines = 20;

std::vector<Column<SharedMeasurement>> columns(const Terminal& screen, bool for_people) {
    using S = SharedMeasurement;
    constexpr std::size_t longest = 72;
    return {
        {"kind", "kind", Show::text, [](const S& s) { return s.kind; }},
        {"what", "what", Show::text,
         [=](const S& s) { return for_people ? shortened(s.what, longest, screen) : s.what; }},
        {"mode", "mode", Show::text, [](const S& s) { return s.mode; }},
        {"device", "device", Show::text, [](const S& s) { return s.device; }},
        {"asked_sm_clock_mhz", "clock", Show::number, [](const S& s) { return known(s.asked_sm_clock_mhz); }},
        {"before_s", "first", Show::seconds, [](const S& s) { return s.before_s; }},
        {"after_s", "second", Show::seconds, [](const S& s) { return s.after_s; }},
        {"difference", "difference", Show::percent, [](const S& s) { return s.difference(); }},
        {"before_interval_s", "first ±", Show::seconds, [](const S& s) { return known(s.before_interval_s); }},
        {"after_interval_s", "second ±", Show::seconds, [](const S& s) { return known(s.after_interval_s); }},
        {"after_inside", "second in first", Show::text, [](const S& s) { return s.after_inside(); }},
        {"before_inside", "first in second", Show::text, [](const S& s) { return s.before_inside(); }},
    };
}

std::string heading(const Agreement& found) {
    std::string text = std::to_string(found.shared.size()) + " measurements in both, " +
                       std::to_string(found.only_before) + " in the first alone, " + std::to_string(found.only_after) +
                       " in the second alone\n";
    const auto line = [&](double share, const char* kinds) {
        if (std::isfinite(share))
            text += show(share, Show::percent) + " of the " + kinds +
                    " lie within the other run's 95 % interval for a repeat (sigma between included)\n";
    };
    line(found.operations_inside, "operations");
    line(found.networks_inside, "networks");
    if (std::isfinite(found.median_difference))
        text += "the second run takes " + show(found.median_difference, Show::percent) + " more time (median)\n";
    return text;
}

}  // namespace

bool is_database(const std::string& file) {
    std::ifstream input(file, std::ios::binary);
    std::array<char, 15> start{};
    input.read(start.data(), start.size());
    return std::string_view(start.data(), static_cast<std::size_t>(input.gcount())) == "SQLite format 3";
}

int diff_databases(const std::string& before, const std::string& after, std::size_t top, const Output& output) {
    const Agreement found =
        agreement(Dataset(before, Dataset::Access::read_only), Dataset(after, Dataset::Access::read_only));
    const Terminal screen = terminal(output);
    std::vector<SharedMeasurement> lines = found.shared;
    const std::size_t most = top > 0 ? top : output.format == "table" ? usual_lines : lines.size();
    if (lines.size() > most) lines.resize(most);
    const Table table = fill(columns(screen, output.format == "table"), lines);
    if (output.format == "csv") {
        output.write(to_csv(table));
    } else if (output.format == "json") {
        output.write(printed({{"schema", "joulecast.agreement/1"},
                              {"before", before},
                              {"after", after},
                              {"shared", found.shared.size()},
                              {"only_before", found.only_before},
                              {"only_after", found.only_after},
                              {"operations_inside", number_or_null(found.operations_inside)},
                              {"networks_inside", number_or_null(found.networks_inside)},
                              {"median_difference", number_or_null(found.median_difference)},
                              {"measurements", rows_json(table)}}));
    } else {
        std::string text = heading(found);
        if (!lines.empty()) text += "\n" + to_text(table);
        if (lines.size() < found.shared.size())
            text += "and " + std::to_string(found.shared.size() - lines.size()) + " more that agree better\n";
        output.write(text);
    }
    return done;
}

}  // namespace joulecast::cli
