#include "joulecast/dataset/insertion.h"

#include "joulecast/dataset/connection.h"

namespace joulecast {

Insertion::Insertion(Dataset& dataset) : connection_(*dataset.connection_), transaction_(connection_.sql) {
    connection_.begin_rows();
}

void Insertion::add(const Device& device) {
    connection_.add_device(device);
}

bool Insertion::add(const OperationRow& row) {
    return connection_.add_row(row) != 0;
}

bool Insertion::add(const NetworkRow& row) {
    return connection_.add_row(row) != 0;
}

bool Insertion::add(const ReferenceRow& row) {
    return connection_.add_row(row) != 0;
}

bool Insertion::add(const NetworkOperationRow& row) {
    return connection_.add_row(row);
}

}  // namespace joulecast
