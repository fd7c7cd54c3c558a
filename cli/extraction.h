#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/count_model.h"
#include "cli/json_tree.h"
#include "joulecast/graph/expression.h"
#include "joulecast/graph/memory_format.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// What `extract` is asked, by the verb or by Python.
struct ExtractRequest {
    std::vector<std::string> models;      ///< files, or names of the zoo
    std::vector<SymbolValues> sizes{{}};  ///< each model at each
    std::string mode;                     ///< empty: as open_graph() has it
    std::string precision;                ///< empty: as in the file
    std::string device = "cuda";          ///< kind of device that casts and copies are inserted for: cpu or cuda
    std::size_t top = 0;                  ///< only so many lines, the dearest; 0: all
    bool by_module = false;
    std::size_t depth = 2;   ///< parts of a module's path that are told apart
    std::string graph_file;  ///< to write the graph of the only model to; empty: none
    bool bag = false;        ///< the file has operations with counts and no edges
    MemoryFormat memory_format = MemoryFormat::contiguous;
};

using Tell = std::function<void(const std::string& note)>;

/// Counts every model at every size; writes the graph's file where one is named. `tell` hears each note of the graphs
/// once. Throws UsageError for a file without or with several models, and what open_graph() and count_model() throw.
std::vector<ModelCount> count_models(const ExtractRequest& request, const Tell& tell);

/// "joulecast.extract/1", complete.
nlohmann::ordered_json extraction_json(const std::vector<ModelCount>& models, const ExtractRequest& request);

/// What every format shows of some calls, in the order of the JSON keys.
const std::vector<Column<CallCount>>& call_columns();
/// Of modules: all but what only an operation has.
std::vector<Column<CallCount>> module_columns();

/// By FLOPs, then by bytes.
bool is_dearer(const CallCount& a, const CallCount& b);
/// The `top` dearest, in the order in which they stand; all when top is 0.
std::vector<CallCount> dearest(const std::vector<CallCount>& calls, std::size_t top);

std::vector<const ModelCount*> pointers(const std::vector<ModelCount>& models);

}  // namespace joulecast::cli
