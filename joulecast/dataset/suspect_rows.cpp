#include "joulecast/dataset/suspect_rows.h"

#include <cstdint>

#include "joulecast/dataset/plausible.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

namespace {

/// Counts rows, and keeps the first.
class Suspects {
  public:
    void add(const std::string& kind, std::int64_t id, const std::string& name, const std::string& why) {
        ++rows_;
        if (rows_ > 1) return;
        first_ = kind + " " + std::to_string(id) + " of the database cannot be right, and nothing learns from it (" +
                 name + "): " + why;
    }
    std::string text() const {
        if (rows_ < 2) return first_;
        return first_ + "; and " + std::to_string(rows_ - 1) + (rows_ == 2 ? " other row" : " other rows");
    }

  private:
    std::string first_;
    std::int64_t rows_ = 0;
};

}  // namespace

std::string suspect_rows(std::span<const OperationRow> operations, std::span<const NetworkRow> networks,
                         std::span<const ReferenceRow> references) {
    Suspects suspects;
    for (const OperationRow& row : operations)
        if (row.measurement.outcome == Outcome::suspect)
            suspects.add("operation", row.id, signature(row.measurement.operation), row.measurement.message);
    for (const NetworkRow& row : networks)
        if (row.measurement.outcome == Outcome::suspect)
            suspects.add("network", row.id, row.measurement.model, row.measurement.message);
    for (const ReferenceRow& row : references)
        if (const auto why = implausible(row)) suspects.add("repeat", row.id, row.operation, *why);
    return suspects.text();
}

}  // namespace joulecast
