#include "joulecast/fleet/fleet_status.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/fleet/journal.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/units/bounded_json.h"
#include "joulecast/units/joined.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

/// Nodes are kept to a second; more is somebody's to repair.
constexpr double clocks_agree_s = 5;
constexpr std::uintmax_t longest_counts = 1 << 16;

/// What profile said last (profile --counts): of a sweep that was killed, what it was about.
struct LastCounts {
    std::optional<std::int64_t> wanted;
    std::int64_t left = 0;
};

LastCounts read_counts(const fs::path& file) {
    std::error_code failure;
    const auto size = fs::file_size(file, failure);
    std::ifstream input(file, std::ios::binary);
    if (failure || size > longest_counts || !input) return {};
    const auto json = parse_bounded_or_null(std::string(std::istreambuf_iterator<char>(input), {}), limits_of_settings);
    const auto count = [&](const char* key) -> std::optional<std::int64_t> {
        if (!json.is_object() || !json.contains(key) || !json.at(key).is_number_integer()) return {};
        return std::max<std::int64_t>(0, json.at(key).get<std::int64_t>());
    };
    return {count("wanted"), count("left").value_or(0) + count("beyond_budget").value_or(0)};
}

/// Reads all shards of a folder, one after another.
class Reader {
  public:
    Reader(const FleetFolder& fleet, const std::optional<std::map<std::string, std::string>>& tasks)
        : fleet_(fleet), tasks_(tasks) {}

    FleetStatus read() {
        for (int shard = 1; shard <= fleet_.shards; ++shard) status_.shards.push_back(read_shard(shard));
        remark_on_the_whole();
        return std::move(status_);
    }

  private:
    ShardStatus read_shard(int number) {
        ShardStatus shard;
        shard.shard = number;
        const std::string name = shard_name(number);
        read_journal_of(name, shard);
        const LastCounts counts = read_counts(fleet_.shard_file(name, ".json"));
        shard.wanted = counts.wanted;
        if (shard.state == ShardState::finished && counts.left > 0) {
            shard.state = ShardState::left;
            shard.message = "the budget is used up";
        }
        std::error_code ignored;
        if (const fs::path file = fleet_.shard_file(name, ".db"); fs::exists(file, ignored)) read_rows(file, shard);
        // Somebody has taken its database away.
        if (shard.state == ShardState::finished && shard.missing().value_or(0) > 0) shard.state = ShardState::left;
        return shard;
    }

    void read_journal_of(const std::string& name, ShardStatus& shard) {
        std::ifstream input(fleet_.shard_file(name, ".journal"), std::ios::binary);
        if (!input) return;
        const Journal journal = read_journal(input);
        unreadable_lines_ += journal.unreadable;
        note_clocks(journal);
        for (const JournalLine& line : journal.lines) {
            if (line.event == "started") ++shard.starts;
            if (line.event == "marked") shard.message = line.text;
        }
        const JournalLine* const last = last_standing(journal);
        if (last == nullptr) return;
        shard.node = last->node;
        shard.card = last->card;
        shard.job = last->job;
        if (!last->text.empty()) shard.message = last->text;
        shard.state = state_of(*last);
    }

    ShardState state_of(const JournalLine& last) const {
        const auto task = tasks_ ? tasks_->find(last.job) : std::map<std::string, std::string>::const_iterator();
        const bool is_known = tasks_ && task != tasks_->end();
        if (last.event == "finished") return ShardState::finished;
        if (is_known && task->second == "PENDING") return ShardState::waiting;
        if (last.event == "started") {
            if (!tasks_) return ShardState::unknown;
            return is_known ? ShardState::running : ShardState::lost;
        }
        if (last.event == "stopped") return ShardState::stopped;
        return last.event == "refused" ? ShardState::refused : ShardState::failed;
    }

    void note_clocks(const Journal& journal) {
        const double difference_s = clock_difference_s(journal);
        if (difference_s <= clock_difference_) return;
        clock_difference_ = difference_s;
        std::set<std::string> nodes;
        for (const JournalLine& line : journal.lines) nodes.insert(line.node);
        nodes_apart_ = joined({nodes.begin(), nodes.end()});
    }

    void read_rows(const fs::path& file, ShardStatus& shard) {
        try {
            const ShardCopy copy(file);
            if (!copy.remark().empty()) shard.message = copy.remark();
            for (const OperationRow& row : copy.dataset().operations())
                count(row.measurement, signature(row.measurement.operation), shard);
            for (const NetworkRow& row : copy.dataset().networks())
                count(row.measurement, with_values(row.measurement.model, row.measurement.symbols, " "), shard);
        } catch (const Error& error) {
            shard.state = ShardState::unreadable;
            shard.message = error.what();
        }
    }

    template <class Measured>
    void count(const Measured& measured, const std::string& what, ShardStatus& shard) {
        shard.device = measured.asked.device;
        devices_.insert(shard.device);
        if (is_timed(measured.outcome)) {
            ++shard.measured;
            return;
        }
        ++shard.failed;
        status_.failures.push_back(
            {what, std::string(name(measured.outcome)), measured.message, shard.shard, shard.card});
    }

    void remark_on_the_whole() {
        if (devices_.size() > 1)
            status_.remarks.push_back("the tasks ran on " + joined({devices_.begin(), devices_.end()}) +
                                      ": shards are parts of one device's measurements, so none of them is measured as "
                                      "a whole. Let each array run on one kind of node (--partition, --gres)");
        if (clock_difference_ > clocks_agree_s)
            status_.remarks.push_back("the clocks of " + nodes_apart_ + " lie " +
                                      std::to_string(std::lround(clock_difference_)) +
                                      " s apart or more: no time of one node is compared with one of another");
        if (unreadable_lines_ > 0)
            status_.remarks.push_back(std::to_string(unreadable_lines_) + " lines of journals cannot be read");
        std::size_t parts = 0;
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(fleet_.path / "shards", ignored))
            parts += entry.path().filename().string().find(".db.part-") != std::string::npos ? 1 : 0;
        if (parts > 0)
            status_.remarks.push_back(std::to_string(parts) +
                                      " copies are being written or were cut off; they are not taken");
    }

    const FleetFolder& fleet_;
    const std::optional<std::map<std::string, std::string>>& tasks_;
    FleetStatus status_;
    std::set<std::string> devices_;
    std::size_t unreadable_lines_ = 0;
    double clock_difference_ = 0;
    std::string nodes_apart_;
};

}  // namespace

std::string_view name(ShardState state) {
    switch (state) {
        case ShardState::finished:
            return "finished";
        case ShardState::running:
            return "running";
        case ShardState::waiting:
            return "waiting";
        case ShardState::left:
            return "left";
        case ShardState::stopped:
            return "stopped";
        case ShardState::failed:
            return "failed";
        case ShardState::refused:
            return "refused";
        case ShardState::lost:
            return "lost";
        case ShardState::unknown:
            return "unknown";
        case ShardState::missing:
            return "missing";
        case ShardState::unreadable:
            return "unreadable";
    }
    return "";
}

bool lacks_something(ShardState state) {
    return state != ShardState::finished && state != ShardState::running && state != ShardState::waiting;
}

std::optional<std::int64_t> ShardStatus::missing() const {
    if (!wanted) return {};
    return std::max<std::int64_t>(0, *wanted - measured - failed);
}

FleetStatus fleet_status(const FleetFolder& fleet, const std::optional<std::map<std::string, std::string>>& tasks) {
    return Reader(fleet, tasks).read();
}

std::string array_of(const std::vector<int>& shards) {
    std::string text;
    for (std::size_t i = 0; i < shards.size();) {
        std::size_t end = i + 1;
        while (end < shards.size() && shards[end] == shards[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(shards[i]);
        if (end - i == 2) text += "," + std::to_string(shards[i + 1]);
        if (end - i > 2) text += "-" + std::to_string(shards[end - 1]);
        i = end;
    }
    return text;
}

}  // namespace joulecast
