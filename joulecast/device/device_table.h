#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/device/data_sheet.h"

namespace joulecast {

struct ShippedSheet;

/// A data sheet that is read when it is first asked for: reading all that are compiled in takes longer than forecasting
/// a network. Several threads may ask at once; copies share what was read.
class LazySheet {
  public:
    explicit LazySheet(DataSheet sheet);
    explicit LazySheet(const ShippedSheet& shipped);

    const std::string& id() const { return id_; }
    const DataSheet& sheet() const;

  private:
    struct Reading;

    std::string id_;
    std::shared_ptr<Reading> reading_;
};

/// The data sheets that are compiled in, and those that a user added; found by id or by any of their names.
class DeviceTable {
  public:
    /// The compiled-in sheets alone.
    DeviceTable();

    /// Adds a sheet, or takes it in place of the one that has its id. Throws Error where one of its names is another
    /// device's.
    void add(DataSheet sheet);
    /// Adds every *.json of the folder, in order of their names; a folder that does not exist has none. Throws Error,
    /// naming the file, for one that is no data sheet, and for more than 1000.
    void add_folder(const std::filesystem::path& folder);

    /// By id.
    std::vector<DataSheet> sheets() const;

    /// The sheet of that id or name, or nullptr. Names are compared by name_key(), so that "A100-SXM4-80GB",
    /// "NVIDIA A100_SXM4 80GB" and "a100-80g-sxm" are one device.
    const DataSheet* find(std::string_view text) const;
    /// The same, or UsageError listing the names that come near.
    const DataSheet& named(std::string_view text) const;
    /// Ids of devices with names like that one, best first, at most `most`.
    std::vector<std::string> names_like(std::string_view text, std::size_t most = 6) const;

  private:
    /// In place of the one that has its id.
    void add(LazySheet sheet, const std::set<std::string>& keys, const std::string& what);

    std::vector<LazySheet> sheets_;                        ///< by id
    std::map<std::string, std::string, std::less<>> ids_;  ///< by name_key(), and by themselves
};

/// What two names of one device have in common: lower case; the words that vendors put around every name left out
/// (NVIDIA, Tesla, GeForce, Quadro, AMD, Instinct, Radeon, Intel, GPU, Graphics, the kind of memory, ...); SXM2 to SXM6
/// one word, and 80GB, 80G and 80 GB; socket and size behind the model and in one order; no blanks, dashes and
/// underscores. "NVIDIA A100-SXM4-80GB" -> "a100+80g+sxm", "GeForce RTX 2080 Ti" -> "rtx2080ti".
std::string name_key(std::string_view name);

/// The folder $JOULECAST_DEVICES; without that variable $XDG_CONFIG_HOME/joulecast/devices, which is
/// ~/.config/joulecast/devices where that is not set either. Empty: none of them is set, nor $HOME.
std::filesystem::path user_device_folder();

/// The compiled-in sheets and those of user_device_folder(), read once.
const DeviceTable& known_devices();

/// The device with what it leaves open taken from the data sheet of its id: a worker need not know it.
Device with_known_figures(Device device);

/// The facts of the device of that name: "cpu" is this machine's, else as known_devices().named(). For names in tables
/// of others too: it opens no file that the text might name. Throws UsageError listing near names.
Device find_device(std::string_view text);

}  // namespace joulecast
