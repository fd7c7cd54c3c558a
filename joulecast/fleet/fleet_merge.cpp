#include "joulecast/fleet/fleet_merge.h"

#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "joulecast/dataset/card.h"
#include "joulecast/error.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/units/digits.h"

namespace joulecast {
namespace {

std::string number(double value) {
    return std::isnan(value) ? "as it is" : digits(value);
}

std::string text_of(const OperatingPoint& point) {
    return point.device + '\n' + number(point.sm_clock_mhz) + '\n' + number(point.memory_clock_mhz) + '\n' +
           number(point.power_limit_w) + '\n' + std::string(name(point.math)) + '\n' + point.engine + '\n' +
           std::string(name(point.host)) + '\n' + std::to_string(point.threads);
}

/// What would be measured the same, apart from clocks that nobody asked for.
std::string text_of(const Measurement& m) {
    return signature(m.operation) + '\n' + text_of(m.asked);
}
std::string text_of(const NetworkMeasurement& m) {
    return "network " + with_values(m.model, m.symbols, " ") + '\n' + std::string(name(m.mode)) + '\n' + m.precision +
           '\n' + std::string(name(m.optimizer)) + '\n' + text_of(m.asked);
}

/// Where neither was asked for a clock, it is what was found that counts.
bool same_found_point(const OperatingPoint& a, const OperatingPoint& b, const OperatingPoint& asked) {
    return (!std::isnan(asked.sm_clock_mhz) || same_found_clock(a.sm_clock_mhz, b.sm_clock_mhz)) &&
           (!std::isnan(asked.memory_clock_mhz) || same_held_clock(a.memory_clock_mhz, b.memory_clock_mhz)) &&
           (!std::isnan(asked.power_limit_w) || same_power_limit(a.power_limit_w, b.power_limit_w));
}

/// Which of the rows of all databases is taken.
class Choice {
  public:
    template <class Row>
    void offer(const Row& row, std::size_t database, bool for_each_card) {
        const std::string card = for_each_card ? card_of(row.provenance) : std::string();
        const auto& m = row.measurement;
        auto& alike = rows_[text_of(m) + '\n' + row.provenance.method + '\n' + card];
        const Candidate candidate{m.real, database, row.id, is_timed(m.outcome)};
        for (Candidate& known : alike) {
            if (!same_found_point(known.real, m.real, m.asked)) continue;
            ++left_out_;
            if (candidate.is_timed && !known.is_timed) known = candidate;
            return;
        }
        alike.push_back(candidate);
    }

    /// After the last offer.
    std::set<std::pair<std::size_t, std::int64_t>> chosen() const {
        std::set<std::pair<std::size_t, std::int64_t>> rows;
        for (const auto& [key, alike] : rows_) {
            for (const Candidate& one : alike) rows.emplace(one.database, one.row);
        }
        return rows;
    }
    std::int64_t left_out() const { return left_out_; }

  private:
    struct Candidate {
        OperatingPoint real;
        std::size_t database = 0;
        std::int64_t row = 0;
        bool is_timed = false;
    };
    std::map<std::string, std::vector<Candidate>> rows_;
    std::int64_t left_out_ = 0;
};

/// By device what its cards were measured to have.
struct CardValues {
    std::map<std::string, std::vector<CardValue>> seconds, watts;

    template <class Row>
    void add(const Row& row) {
        const auto& m = row.measurement;
        if (!is_timed(m.outcome)) return;
        const std::string card = card_of(row.provenance), what = text_of(m) + '\n' + row.provenance.method;
        seconds[m.asked.device].push_back({card, what, m.time.median_s});
        if (m.energy) watts[m.asked.device].push_back({card, what, m.energy->power_w});
    }
    void add(const ReferenceRow& row) {
        seconds[row.asked.device].push_back(
            {card_of(row.provenance), "reference " + row.operation + '\n' + text_of(row.asked), row.time_mean_s});
    }
};

/// Looks at all databases before it copies of any: the first row need not be the best.
class Merger {
  public:
    void look_at(const std::filesystem::path& file, bool is_of_card) {
        const ShardCopy copy(file);
        // All is read before any of it is offered: a database that is damaged at its end gives nothing.
        const auto operations = copy.dataset().operations();
        const auto networks = copy.dataset().networks();
        const auto references = copy.dataset().references();
        for (const OperationRow& row : operations) operations_.offer(row, files_.size(), is_of_card);
        for (const NetworkRow& row : networks) networks_.offer(row, files_.size(), is_of_card);
        for (const OperationRow& row : operations) values_.add(row);
        for (const NetworkRow& row : networks) values_.add(row);
        for (const ReferenceRow& row : references) values_.add(row);
        files_.push_back(file);
    }

    void copy_chosen(Dataset& into, FleetMerge& merged) const {
        const auto operations = operations_.chosen(), networks = networks_.chosen();
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const ShardCopy copy(files_[i]);
            merged.rows +=
                into.merge(copy.dataset(), {[&](const OperationRow& row) { return operations.contains({i, row.id}); },
                                            [&](const NetworkRow& row) { return networks.contains({i, row.id}); }});
        }
        merged.databases = std::ssize(files_);
        merged.left_out = operations_.left_out() + networks_.left_out();
        for (const auto& [device, list] : values_.seconds) merged.spread[device].time = compare_cards(list);
        for (const auto& [device, list] : values_.watts) merged.spread[device].power = compare_cards(list);
    }

  private:
    std::vector<std::filesystem::path> files_;
    Choice operations_, networks_;
    CardValues values_;
};

}  // namespace

FleetMerge merge_fleets(std::span<const FleetFolder> fleets, Dataset& into) {
    FleetMerge merged;
    Merger merger;
    for (const FleetFolder& fleet : fleets) {
        for (const std::string& name : stored_names(fleet)) {
            try {
                merger.look_at(fleet.shard_file(name, ".db"), name.starts_with("card-"));
            } catch (const Error& error) {
                merged.unreadable.emplace_back(error.what());
            }
        }
    }
    merger.copy_chosen(into, merged);
    return merged;
}

}  // namespace joulecast
