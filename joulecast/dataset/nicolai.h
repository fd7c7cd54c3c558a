#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// What the published table names in its own words, looked up by whoever knows ours. Both may throw Error.
struct NicolaiNames {
    /// Data sheet of a device by the table's name for it ("A30").
    std::function<Device(const std::string& published)> device;
    /// The network as the zoo calls it, for square images of that size.
    std::function<std::string(const std::string& model, std::int64_t image_size)> network;
};

struct NicolaiImport {
    std::int64_t rows = 0;                        ///< in the file
    std::int64_t added = 0;                       ///< new to the database
    std::map<std::string, std::int64_t> dropped;  ///< why rows were left out, and how many
    std::vector<std::string> unused_columns;      ///< that no known column of the table is
    /// Sittings that ran their layers in training state although nothing went backward (docs/data.md).
    std::vector<std::string> in_training_state;
};

/// Reads ops.csv (one torch.nn layer a row) or networks.csv (one network a row), told apart by the header, of the
/// measurements behind C. Nicolai's thesis (docs/data.md maps every column). Each campaign is a session; networks,
/// which name none, are in one of their own. Throws FormatError "name:line: what" for a line that is no such row, and
/// then adds nothing; rows that are sound but mean no single ATen call are left out and counted.
NicolaiImport import_nicolai(Dataset& dataset, std::istream& input, const std::string& name, const NicolaiNames& names);

}  // namespace joulecast
