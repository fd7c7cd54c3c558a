#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/json_tree.h"
#include "cli/measured_rows.h"
#include "joulecast/train/what_next.h"

namespace joulecast::cli {

/// What `train --what-next` is asked.
struct WhatNextWish {
    double budget_s = 0;
    std::string plan;                 ///< file to write
    std::vector<std::string> models;  ///< networks that matter; none: the zoo
    std::vector<std::string> set;     ///< "batch=1,8"; none: as the database's networks were measured
};

/// A chosen operation as a line.
struct NextLine {
    Operation operation;
    NextOperation next;
    bool is_augmentation = false;  ///< no network calls it
};

struct NextPlan {
    std::vector<NextLine> lines;
    std::string device;
    double cost_s = 0;
    double uncertainty = 0;          ///< as of WhatNext
    std::size_t candidates = 0;      ///< operations not in the database
    std::size_t not_considered = 0;  ///< of these, beyond what a choice looks at
    std::size_t networks = 0;        ///< at every size, mode and precision
};

/// Candidates are operations of the networks, at the modes and types that were measured, and variants of these, which
/// the database does not have at this setting. Networks that do not open are named on standard error. Throws Error
/// where nothing is left to measure.
NextPlan next_plan(const MeasuredRows& rows, const WhatNextWish& wish);

/// Writes the plan file that `joulecast profile` takes.
void write_plan(const NextPlan& plan, const MeasuredRows& rows, const std::string& file);

std::string to_text(const NextPlan& plan, const WhatNextWish& wish);
/// A JSON object.
nlohmann::ordered_json to_json(const NextPlan& plan, const WhatNextWish& wish);
std::string to_csv(const NextPlan& plan);

}  // namespace joulecast::cli
