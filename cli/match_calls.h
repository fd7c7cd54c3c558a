#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast::cli {

/// Calls of one operation and what became of them. Absent `before`: added; absent `after`: dropped; both but different:
/// changed, with as many calls on either side. The same operation on both sides stands once, with its calls in each.
struct CallChange {
    std::optional<Operation> before;
    std::optional<Operation> after;
    std::int64_t calls_before = 0;
    std::int64_t calls_after = 0;
};

/// Every call of both graphs, matched by its signature first, then by that of its twin in place or not (add_ and add),
/// then by target and module path, or, where one of the graphs knows no module paths, by target in the order of the
/// calls. In the order of the first calls.
std::vector<CallChange> match_calls(const Graph& before, const Graph& after);

struct ArgumentChange {
    std::string name;
    /// Empty: left out, the schema's default.
    std::string before;
    std::string after;
};

/// The arguments by which two signatures differ.
std::vector<ArgumentChange> changed_arguments(std::string_view before, std::string_view after);

}  // namespace joulecast::cli
