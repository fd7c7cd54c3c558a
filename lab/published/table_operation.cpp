#include "lab/published/table_operation.h"

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {

Operation operation_of(const TableReader& row, const std::function<Operation()>& build) {
    try {
        Operation operation = canonical(build());
        total_counts(operation);
        return operation;
    } catch (const FormatError& error) {
        row.fail(error.what());
    }
}

}  // namespace joulecast
