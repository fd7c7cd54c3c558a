#pragma once

#include <filesystem>
#include <string>

#include "dataset/samples.h"
#include "joulecast/dataset/card.h"
#include "joulecast/fleet/fleet_folder.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {

/// A folder of a fleet of so many shards, of which no task has started.
class SampleFleet : public ::testing::Test {
  protected:
    FleetPlan plan(int shards = 3) const {
        FleetPlan plan;
        plan.folder = folder.path() / "fleet";
        plan.work_folder = folder.path();
        plan.joulecast = "joulecast";
        plan.what = {"alexnet"};
        plan.shards = shards;
        return plan;
    }

    /// Lines of the journal of a shard, each "EVENT NODE [TEXT]", as tasks write them a second apart.
    static void write_journal(const FleetFolder& fleet, const std::string& name,
                              const std::vector<std::string>& lines) {
        std::string text;
        int second = 10;
        for (const std::string& line : lines) {
            const std::size_t space = line.find(' '), end = std::min(line.find(' ', space + 1), line.size());
            const std::string node = line.substr(space + 1, end - space - 1);
            text += "2026-01-02T03:04:" + std::to_string(second++) + "Z " + line.substr(0, space) + " job=12_" +
                    std::to_string(shard_number(name).value_or(0)) + " node=" + node + " restart=0 card=" + node +
                    " :" + line.substr(end) + "\n";
        }
        write_file(fleet.shard_file(name, ".journal"), text);
    }

    static void write_counts(const FleetFolder& fleet, const std::string& name, int wanted, int left = 0) {
        write_file(fleet.shard_file(name, ".json"),
                   "{\"wanted\": " + std::to_string(wanted) + ", \"left\": " + std::to_string(left) + "}");
    }

    /// A row of `batch` images that the card took `ratio` times the usual time for.
    static Measurement measured(std::int64_t batch, double ratio = 1) {
        Measurement m = sample_measurement(relu(batch));
        m.time.median_s = 1e-5 * static_cast<double>(batch) * ratio;
        return m;
    }

    static Provenance measured_by(const std::string& card, const std::string& session) {
        Provenance provenance = sample_provenance(session);
        provenance.machine = with_card(provenance.machine, card);
        return provenance;
    }

    static void store(const FleetFolder& fleet, const std::string& name, const std::vector<Measurement>& rows,
                      const std::string& card, const std::string& session) {
        Dataset dataset(fleet.shard_file(name, ".db"));
        dataset.insert(sample_device());
        for (const Measurement& row : rows) dataset.insert(row, measured_by(card, session));
    }

    TemporaryFolder folder;
};

}  // namespace joulecast::testing
