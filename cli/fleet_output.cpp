#include "cli/fleet_output.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/json_tree.h"
#include "joulecast/report/table.h"
#include "joulecast/units/printable.h"

namespace joulecast::cli {
namespace {

/// Lines of failed trials that people are shown.
constexpr std::size_t shown_failures = 20;

Cell count_or_none(const std::optional<std::int64_t>& count) {
    return count ? Cell(*count) : Cell();
}
Cell text_or_none(const std::string& text) {
    return text.empty() ? Cell() : Cell(text);
}

const std::vector<Column<ShardStatus>>& shard_columns() {
    using S = ShardStatus;
    static const std::vector<Column<S>> list = {
        {"shard", "shard", Show::count, [](const S& s) { return std::int64_t{s.shard}; }},
        {"state", "state", Show::text, [](const S& s) { return std::string(name(s.state)); }},
        {"node", "node", Show::text, [](const S& s) { return text_or_none(s.node); }},
        {"card", "card", Show::text, [](const S& s) { return text_or_none(s.card == s.node ? "" : s.card); }},
        {"job", "task", Show::text, [](const S& s) { return text_or_none(s.job); }},
        {"starts", "starts", Show::count, [](const S& s) { return s.starts; }},
        {"wanted", "wanted", Show::count, [](const S& s) { return count_or_none(s.wanted); }},
        {"measured", "measured", Show::count, [](const S& s) { return s.measured; }},
        {"failed", "failed", Show::count, [](const S& s) { return s.failed; }},
        {"missing", "missing", Show::count, [](const S& s) { return count_or_none(s.missing()); }},
        {"device", "device", Show::text, [](const S& s) { return text_or_none(s.device); }},
        {"message", "why", Show::text, [](const S& s) { return text_or_none(s.message); }},
    };
    return list;
}

const std::vector<Column<FailedTrial>>& failure_columns() {
    using F = FailedTrial;
    static const std::vector<Column<F>> list = {
        {"what", "failed", Show::text, [](const F& f) { return f.what; }},
        {"outcome", "outcome", Show::text, [](const F& f) { return f.outcome; }},
        {"shard", "shard", Show::count, [](const F& f) { return std::int64_t{f.shard}; }},
        {"card", "card", Show::text, [](const F& f) { return text_or_none(f.card); }},
        {"message", "why", Show::text, [](const F& f) { return text_or_none(f.message); }},
    };
    return list;
}

struct Totals {
    std::map<ShardState, std::int64_t> shards;
    std::int64_t measured = 0, failed = 0, missing = 0;
    std::vector<int> again;  ///< shards that another task has to measure

    explicit Totals(const FleetStatus& status) {
        for (const ShardStatus& shard : status.shards) {
            ++shards[shard.state];
            measured += shard.measured;
            failed += shard.failed;
            missing += shard.missing().value_or(0);
            if (lacks_something(shard.state)) again.push_back(shard.shard);
        }
    }
    std::int64_t finished() const {
        return shards.contains(ShardState::finished) ? shards.at(ShardState::finished) : 0;
    }
};

std::string again_line(const Totals& totals, const FleetFolder& fleet) {
    return "sbatch --array=" + array_of(totals.again) + " " + fleet.script().string();
}

std::string status_json(const FleetFolder& fleet, const FleetStatus& status, const Totals& totals) {
    nlohmann::ordered_json answer{{"schema", "joulecast.fleet-status/1"},
                                  {"folder", fleet.path.string()},
                                  {"tasks", fleet.shards},
                                  {"finished", totals.finished()},
                                  {"measured", totals.measured},
                                  {"failed", totals.failed},
                                  {"missing", totals.missing},
                                  {"array", array_of(totals.again)},
                                  {"remarks", status.remarks}};
    answer["shards"] = rows_json(fill(shard_columns(), status.shards));
    answer["failures"] = rows_json(fill(failure_columns(), status.failures));
    return printed(answer);
}

std::string status_text(const FleetFolder& fleet, const FleetStatus& status, const Totals& totals, bool verbose) {
    std::string text =
        std::to_string(totals.finished()) + " of " + std::to_string(fleet.shards) + " shards are finished";
    for (const auto& [state, count] : totals.shards) {
        if (state != ShardState::finished) text += ", " + std::to_string(count) + " " + std::string(name(state));
    }
    text += "\n" + std::to_string(totals.measured) + " measured, " + std::to_string(totals.failed) + " failed, " +
            std::to_string(totals.missing) + " missing in shards that have begun\n";
    auto shown = status.shards;
    if (!verbose)
        std::erase_if(shown, [](const ShardStatus& s) {
            return s.state == ShardState::finished || s.state == ShardState::missing;
        });
    if (!shown.empty()) text += "\n" + to_text(without_empty_columns(fill(shard_columns(), shown)));
    auto failures = status.failures;
    if (!verbose) failures.resize(std::min(failures.size(), shown_failures));
    if (!failures.empty()) text += "\n" + to_text(without_empty_columns(fill(failure_columns(), failures)));
    if (failures.size() < status.failures.size())
        text += "and " + std::to_string(status.failures.size() - failures.size()) + " more: -v\n";
    if (!totals.again.empty()) text += "\nwhat is missing: " + again_line(totals, fleet) + "\n";
    return text;
}

/// A card's line: time and power beside each other.
struct CardLine {
    std::string device;
    CardRatio time;
    std::optional<CardRatio> power;
};

std::vector<CardLine> card_lines(const FleetMerge& merged) {
    std::vector<CardLine> lines;
    for (const auto& [device, spread] : merged.spread) {
        for (const CardComparison& comparison : spread.time) {
            for (const CardRatio& card : comparison.cards) lines.push_back({device, card, {}});
        }
        for (const CardComparison& comparison : spread.power) {
            for (const CardRatio& card : comparison.cards) {
                const auto found = std::ranges::find_if(
                    lines, [&](const CardLine& line) { return line.device == device && line.time.card == card.card; });
                if (found != lines.end()) found->power = card;
            }
        }
    }
    return lines;
}

const std::vector<Column<CardLine>>& card_columns() {
    using L = CardLine;
    static const std::vector<Column<L>> list = {
        {"device", "device", Show::text, [](const L& l) { return l.device; }},
        {"card", "card", Show::text, [](const L& l) { return l.time.card; }},
        {"operations", "compared", Show::count,
         [](const L& l) { return static_cast<std::int64_t>(l.time.operations); }},
        {"time_ratio", "time", Show::number, [](const L& l) { return l.time.ratio; }},
        {"power_ratio", "power", Show::number, [](const L& l) { return l.power ? Cell(l.power->ratio) : Cell(); }},
        {"outlier", "outlier", Show::text,
         [](const L& l) {
             const bool by_power = l.power && l.power->is_outlier;
             if (l.time.is_outlier) return Cell(by_power ? "time and power" : "time");
             return by_power ? Cell("power") : Cell();
         }},
    };
    return list;
}

std::string percent(double share) {
    return show(share, Show::percent);
}

/// "n3 takes 5.1 % more time than the median of 4 cards"
void tell_comparison(const std::string& device, const char* quantity, const CardComparison& comparison,
                     std::string& text) {
    const std::size_t cards = comparison.cards.size();
    if (cards == 2 && comparison.widest > 1 + outlier_share) {
        text += device + ": " + comparison.cards[0].card + " and " + comparison.cards[1].card + " differ by " +
                percent(comparison.widest - 1) + " in " + quantity + "; of two nobody knows which is unusual\n";
        return;
    }
    text += device + ": " + std::to_string(cards) + " cards lie within " + percent(comparison.widest - 1) + " in " +
            quantity + ", one robust sigma is " + percent(comparison.sigma) + "\n";
    for (const CardRatio& card : comparison.cards) {
        if (!card.is_outlier) continue;
        text += "outlier: " + card.card + ", " + percent(std::abs(card.ratio - 1)) +
                (card.ratio > 1 ? " more " : " less ") + quantity + " than the median card, by " +
                std::to_string(card.operations) + " operations\n";
    }
}

nlohmann::ordered_json comparisons_json(const FleetMerge& merged) {
    auto list = nlohmann::ordered_json::array();
    const auto add = [&](const std::string& device, const char* quantity, const CardComparison& comparison) {
        auto outliers = nlohmann::ordered_json::array();
        for (const CardRatio& card : comparison.cards) {
            if (card.is_outlier) outliers.push_back(card.card);
        }
        list.push_back({{"device", device},
                        {"quantity", quantity},
                        {"cards", comparison.cards.size()},
                        {"sigma", number_or_null(comparison.sigma)},
                        {"widest", number_or_null(comparison.widest - 1)},
                        {"outliers", outliers}});
    };
    for (const auto& [device, spread] : merged.spread) {
        for (const CardComparison& comparison : spread.time) add(device, "time", comparison);
        for (const CardComparison& comparison : spread.power) add(device, "power", comparison);
    }
    return list;
}

std::string merge_text(const std::string& database, const FleetMerge& merged, const Table& cards) {
    std::string text = database + ": " + std::to_string(merged.rows) + " rows out of " +
                       std::to_string(merged.databases) + " databases; " + std::to_string(merged.left_out) +
                       " measured before were left out\n";
    if (cards.rows.empty())
        return text + "no operation was measured on two cards of one name: their spread is not known\n";
    text += "\n" + to_text(without_empty_columns(cards)) + "\n";
    for (const auto& [device, spread] : merged.spread) {
        for (const CardComparison& comparison : spread.time) tell_comparison(device, "time", comparison, text);
        for (const CardComparison& comparison : spread.power) tell_comparison(device, "power", comparison, text);
    }
    return text + "outlier: " + percent(outlier_share) + " from the median card; of " +
           std::to_string(fewest_cards_for_sigma) + " cards or more also beyond 3 robust sigmas and " +
           percent(smallest_outlier_share) + "\n";
}

}  // namespace

int print_fleet_status(const Output& output, const FleetFolder& fleet, const FleetStatus& status) {
    const Totals totals(status);
    output.write(output.format == "json"  ? status_json(fleet, status, totals)
                 : output.format == "csv" ? to_csv(fill(shard_columns(), status.shards))
                                          : status_text(fleet, status, totals, output.verbose));
    for (const std::string& remark : status.remarks) tell(remark);
    return totals.finished() == fleet.shards ? done : parts_unknown;
}

int print_fleet_merge(const Output& output, const std::string& database, const FleetMerge& merged,
                      std::size_t unfinished) {
    const Table cards = fill(card_columns(), card_lines(merged));
    if (output.format == "json") {
        nlohmann::ordered_json answer{{"schema", "joulecast.fleet-merge/1"}, {"database", database},
                                      {"databases", merged.databases},       {"rows", merged.rows},
                                      {"left_out", merged.left_out},         {"unfinished", unfinished},
                                      {"unreadable", merged.unreadable}};
        answer["comparisons"] = comparisons_json(merged);
        answer["cards"] = rows_json(cards);
        output.write(printed(answer));
    } else {
        output.write(output.format == "csv" ? to_csv(cards) : merge_text(database, merged, cards));
    }
    for (const std::string& reason : merged.unreadable) tell("left out: " + printable_text(reason));
    if (unfinished > 0)
        tell(std::to_string(unfinished) + " shards are not finished: joulecast fleet status says which");
    return merged.unreadable.empty() && unfinished == 0 ? done : parts_unknown;
}

}  // namespace joulecast::cli
