#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// A network's name as the zoo has it, from the published one and the side of its square images. May throw Error.
using NetworkNaming = std::function<std::string(const std::string& model, std::int64_t image_size)>;

/// Reads ops.csv (one torch.nn layer a row) or networks.csv (one network a row), told apart by the header, of the
/// measurements behind C. Nicolai's thesis (docs/data.md maps every column). Each campaign is a session; networks,
/// which name none, are in one of their own. A note for each sitting that ran its layers in training state although
/// nothing went backward. Throws FormatError "name:line: what" for a line that is no such row or of a device without a
/// data sheet, and then adds nothing; rows that are sound but mean no single ATen call are dropped.
Import import_nicolai(Dataset& dataset, std::istream& input, const std::string& name, const NetworkNaming& naming);

}  // namespace joulecast
