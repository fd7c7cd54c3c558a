#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"
#include "joulecast/dataset/insertion.h"
#include "joulecast/dataset/table_reader.h"

namespace joulecast {

/// The columns of a published table: those that its importer reads, those that it knows and leaves, and those that it
/// reads where they are there.
struct PublishedColumns {
    std::vector<std::string_view> used;
    std::vector<std::string_view> dropped;
    std::vector<std::string_view> optional = {};
};

/// What a published table tells of a measurement; the rest is not known.
struct PublishedTime {
    std::string_view device;  ///< any name of a data sheet
    double time_s = 0;        ///< the table's one number: stands for mean and median
    /// Training: forward alone. NaN: not told.
    double forward_s = std::numeric_limits<double>::quiet_NaN();
    Host host = Host::python;  ///< graph: times of kernels, whoever started them
};

/// The measurements of one published file on their way into the database, in one transaction, with the count of what
/// became of them. Memory grows with the distinct measurements by 16 bytes or so, not with the rows.
class PublishedRows {
  public:
    explicit PublishedRows(Dataset& dataset) : dataset_(dataset), insertion_(dataset) {}

    /// Throws FormatError for a used column that the file lacks; notes the others.
    void account_for(const TableReader& table, const PublishedColumns& columns);

    /// The device that a table calls so: of the data sheets, else the database's of that id. Its facts are stored from
    /// now on. nullptr: nobody knows it, and no_sheet() says so.
    const Device* device(std::string_view name);
    static std::string no_sheet(std::string_view name);
    /// Facts of a device in the place of those that the database has, in the same transaction.
    void replace(const Device& device) { dataset_.insert(device); }
    /// Idle power over the clock of a device that is stored, likewise.
    void replace(const std::string& device, std::span<const IdlePoint> idle, const std::string& source) {
        dataset_.insert(device, idle, source);
    }

    /// So many more measured numbers that are of no use, and why.
    void drop(const std::string& why, std::int64_t rows = 1);
    /// So many more that told something else than a measurement, or a part of one.
    void use(std::int64_t rows = 1);
    /// One more, of which the table tells more than the time: its operation canonical, its device one of device(). A
    /// repeat (at the same asked point, and begun at the same moment where the table tells when) gets a session of its
    /// own, as below.
    void add(OperationRow row);
    void add(NetworkRow row);
    /// One more that is an operation's time. Sizes that cannot be are dropped, and devices that no data sheet tells of.
    /// What the file has measured before is a repeat: it gets a session of its own, "NAME repeat 2", so that the
    /// database keeps both.
    void add(const Operation& operation, const PublishedTime& time, Provenance provenance);
    /// One more that is a network's time. model, symbols, mode and precision are read from `network`.
    void add(NetworkMeasurement network, const PublishedTime& time, Provenance provenance);
    /// What else a user should know; at most 100 of them are kept.
    void note(const std::string& sentence);
    /// A line of a network's list.
    void add(const NetworkOperationRow& line) { counts_.added += insertion_.add(line) ? 1 : 0; }

    /// Stores everything.
    Import commit();

  private:
    /// Absent for a device without a data sheet.
    std::optional<OperatingPoint> point(const PublishedTime& time);
    std::string session(const std::string& base, const std::string& key);
    template <class Row>
    void store(const std::string& key, Row row);

    Dataset& dataset_;
    Insertion insertion_;
    std::unordered_map<std::string, std::optional<Device>> devices_;  ///< by the table's name
    std::unordered_map<std::size_t, std::int64_t> repeats_;           ///< hash of a measurement's key -> times seen
    Import counts_;
};

}  // namespace joulecast
