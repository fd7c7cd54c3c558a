#pragma once

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/sqlite.h"

namespace joulecast {

/// Rows that go into a database together: nothing is stored before commit(), nothing at all where it never comes. Holds
/// the write lock meanwhile, so reading what the rows come from should take no longer than reading a file. Memory does
/// not grow with the rows.
class Insertion {
  public:
    explicit Insertion(Dataset& dataset);

    /// A device that is there already stays as it is.
    void add(const Device& device);
    /// False where the row is there already (same key, session and start). Throws as Dataset::insert does.
    bool add(const OperationRow& row);
    bool add(const NetworkRow& row);
    bool add(const ReferenceRow& row);
    /// A line of a network's list; false where the network has had one before this insertion, which stays whole. Throws
    /// Error for a count below 1, or gradients in inference.
    bool add(const NetworkOperationRow& row);
    void commit() { transaction_.commit(); }

  private:
    Dataset::Connection& connection_;
    sqlite::Transaction transaction_;
};

}  // namespace joulecast
