#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/fleet/fleet_script.h"
#include "joulecast/units/scratch_folder.h"

namespace joulecast {

/// A fleet on disk: fleet.json (what it is), fleet.sbatch (what Slurm runs), plans/ (as they were), logs/ (of tasks),
/// and shards/ with NAME.db, NAME.json (counts) and NAME.journal of each shard and each card.
struct FleetFolder {
    std::filesystem::path path;
    int shards = 0;
    std::vector<std::string> what, how;  ///< arguments of profile

    std::filesystem::path script() const { return path / "fleet.sbatch"; }
    std::filesystem::path shard_file(const std::string& name, const std::string& ending) const {
        return path / "shards" / (name + ending);
    }
};

/// "shard-00007"
std::string shard_name(int shard);
/// The number of such a name.
std::optional<int> shard_number(const std::string& name);

/// Makes the folder with all but its plans. A folder that is a fleet already gets a new script, if it measures the
/// same; throws Error where it is another fleet, or cannot be written.
FleetFolder make_fleet_folder(const FleetPlan& plan);
/// Throws Error where there is none, and FormatError for a fleet.json that is damaged or newer.
FleetFolder open_fleet_folder(const std::filesystem::path& path);

/// Names in shards/ that have a database, in order: "card-n1", "shard-00001", ...
std::vector<std::string> stored_names(const FleetFolder& fleet);

/// A shard's database, read from a private copy: what a task is writing, or was written by an older version, stays as
/// it is.
class ShardCopy {
  public:
    /// Throws Error where it cannot be read: damaged, cut off, newer, no database.
    explicit ShardCopy(const std::filesystem::path& file);

    const Dataset& dataset() const { return *dataset_; }
    /// What is worth telling: it was written by an older version. Otherwise empty.
    const std::string& remark() const { return remark_; }

  private:
    ScratchFolder folder_;
    std::unique_ptr<Dataset> dataset_;
    std::string remark_;
};

}  // namespace joulecast
