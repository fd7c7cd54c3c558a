#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/device/idle_point.h"
#include "joulecast/graph/graph.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// One measured operation as stored.
struct OperationRow {
    std::int64_t id = 0;
    Measurement measurement;
    Mode mode = Mode::inference;
    Provenance provenance;
};

struct NetworkRow {
    std::int64_t id = 0;
    NetworkMeasurement measurement;
    Provenance provenance;
};

/// One repeat of the operation that a session measures again and again, so that what lies between two measurements of
/// the same thing is known (docs/method.md).
struct ReferenceRow {
    std::int64_t id = 0;
    std::string operation;  ///< signature
    OperatingPoint asked;
    OperatingPoint real;
    std::string started_at;  ///< ISO 8601, UTC, with milliseconds
    double time_mean_s = std::numeric_limits<double>::quiet_NaN();
    double time_half_width_s = std::numeric_limits<double>::quiet_NaN();
    double temperature_c = std::numeric_limits<double>::quiet_NaN();
    bool drifted = false;  ///< too far from the first ones
    Provenance provenance;
};

/// One line of the list of a network's calls, for networks that no file describes: the operation is called `count`
/// times. A network is the same where model, symbols, mode and precision are; its lines stand one for each operation.
struct NetworkOperationRow {
    std::int64_t id = 0;
    std::string model;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    Operation operation;  ///< with the types of that precision; in training with marks where gradients flow
    std::int64_t count = 1;
    std::string source = "own";  ///< as of Provenance
};

/// What a device stands at that nobody of us has set: its own boost, or what a job script with rights has left. Read
/// before a sweep (profile/found_clocks.h); NaN: not known.
struct FoundClocks {
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< the highest, under a load that reaches it
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
};

/// Two highest clocks are those of one setting: boost wanders by a few percent with the temperature, what somebody sets
/// lies further off. Two that are held (of the memory; limits) agree more narrowly. Unknown agrees with all.
bool same_found_clock(double mhz, double other_mhz);
bool same_held_clock(double mhz, double other_mhz);
bool same_power_limit(double watts, double other_watts);

/// Identity of a measurement for resuming: what would be measured the same.
struct MeasurementKey {
    std::string device;
    std::string operation;  ///< signature
    Mode mode = Mode::inference;
    /// Asked; NaN: as they are.
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    Math math = Math::ieee;
    std::string engine = OperatingPoint{}.engine;
    Host host = Host::cpp;
    int threads = 0;
    std::string method = "joulecast";
    FoundClocks found;  ///< for what is asked as it is
};

/// A database at a glance: rows that have all of this in common.
struct RowGroup {
    std::string kind;  ///< "operation" or "network"
    std::string device;
    std::string mode;
    std::string engine;
    std::string host;  ///< "python", "cpp", "graph", "compiled"
    std::string outcome;
    std::string worker;
    std::string source;
    std::int64_t rows = 0;
    std::int64_t sessions = 0;
    double wall_s = 0;  ///< what measuring them took
};

/// Which rows a merge copies; without a word for it all.
struct RowsToMerge {
    std::function<bool(const OperationRow&)> operation = [](const OperationRow&) { return true; };
    std::function<bool(const NetworkRow&)> network = [](const NetworkRow&) { return true; };
};

/// The database of measurements (SQLite, WAL, foreign keys, user_version migrations). Every insert is committed at
/// once. Two programs may write to one file: the second waits, up to 30 s, then fails saying who holds it.
class Dataset {
  public:
    enum class Access { read_only, read_write };

    /// Opens, creates (read_write) or migrates. Throws Error when the file is newer than this program, is no
    /// database, or cannot be written (disk full, permissions) and says which.
    explicit Dataset(const std::filesystem::path& path, Access access = Access::read_write);
    ~Dataset();
    Dataset(Dataset&&) noexcept;
    Dataset& operator=(Dataset&&) noexcept;

    /// Known facts of a device already there are overwritten; facts not known now stay.
    void insert(const Device& device);
    /// Idle power of a device that is there, over its clock; points at clocks that it has already take their place.
    /// `source` as of Provenance. Throws Error for clocks and powers that are not positive.
    void insert(const std::string& device, std::span<const IdlePoint> idle, const std::string& source);
    /// Returns the row's id. Throws Error for a device that is not there, for numbers that cannot be (NaN or negative
    /// times of an ok outcome), and for a key that the same session has stored already.
    std::int64_t insert(const Measurement& measurement, const Provenance& provenance);
    std::int64_t insert(const NetworkMeasurement& measurement, const Provenance& provenance);
    std::int64_t insert(const ReferenceRow& row);
    /// As insert() stores it: what the device's data sheet contradicts is `suspect`, and its message says why
    /// (plausible.h). Throws Error for a device that is not there.
    Measurement judged(const Measurement& measurement) const;
    NetworkMeasurement judged(const NetworkMeasurement& measurement) const;
    /// Puts the measurement in the place of row `id`, which was taken under conditions that it need not have had: at no
    /// moment is there none of them, or both. Returns the new row's id.
    std::int64_t replace(std::int64_t id, const Measurement& measurement, const Provenance& provenance);
    std::int64_t replace(std::int64_t id, const NetworkMeasurement& measurement, const Provenance& provenance);
    /// Adds to what the row's message says.
    void remark_operation(std::int64_t id, const std::string& remark);
    void remark_network(std::int64_t id, const std::string& remark);

    /// Whatever the outcome was: a failed trial is not repeated either. A clock or limit that was asked for must be the
    /// same. One asked as it is must have been what `found` says: in its row, the SM clock in its session, whose
    /// highest clock tells what the device was let run at; what is not known on either side counts as the same.
    bool contains(const MeasurementKey& key) const;
    /// A network measurement with the same model, symbols, mode, precision, optimizer and asked point.
    bool contains(const NetworkMeasurement& like, Method method = Method::joulecast,
                  const FoundClocks& found = {}) const;
    /// Timed rows of a GPU whose real SM clock nobody told, where others of that device tell it: at which clock they
    /// were measured is not known, and they are taken for any.
    std::int64_t rows_without_clock(const std::string& device) const;

    /// Of any device, or of that one.
    bool has_operations(const std::optional<std::string>& device = {}) const;

    std::vector<Device> devices() const;
    /// All rows, or those of one device; raw blocks only when asked for. Ordered by id.
    std::vector<OperationRow> operations(const std::optional<std::string>& device = {}, bool with_blocks = false) const;
    std::vector<NetworkRow> networks(const std::optional<std::string>& device = {}, bool with_blocks = false) const;

    /// By clock, ascending.
    std::vector<IdlePoint> idle_points(const std::string& device) const;

    std::vector<ReferenceRow> references(const std::optional<std::string>& device = {}) const;

    /// The lines of all lists of networks' calls. Ordered by id. Insertion writes them.
    std::vector<NetworkOperationRow> network_operations() const;
    /// The calls of the network that was measured, as a bag at its symbols, mode and precision; absent where the
    /// database has no list of them.
    std::optional<Graph> listed_network(const NetworkMeasurement& network) const;

    std::vector<RowGroup> row_groups() const;
    /// Seconds that measuring an operation took on average; absent without rows. Drives the plan's estimate.
    std::optional<double> mean_operation_wall_s(const std::string& device, Method method = Method::joulecast) const;
    std::int64_t schema_version() const;

    /// Inserts all or, when one of them fails, nothing; what is already there (same key, session and start) is
    /// skipped. Returns rows added. Devices already known stay as they are.
    std::int64_t insert_missing(const std::vector<Device>& devices, const std::vector<OperationRow>& operations,
                                const std::vector<NetworkRow>& networks,
                                const std::vector<ReferenceRow>& references = {});

    /// Copies what `other` has and this one has not (same key, session and start); returns rows added. Where both have
    /// a list of the same network, this one's stays.
    std::int64_t merge(const Dataset& other, const RowsToMerge& wanted = {});

  private:
    friend class Insertion;
    class Connection;
    void merge_idle_points(const Dataset& other);
    std::unique_ptr<Connection> connection_;
};

}  // namespace joulecast
