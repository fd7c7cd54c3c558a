#include "cli/start_option.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "joulecast/answer/choose_predictor.h"
#include "joulecast/error.h"
#include "joulecast/model/jcp.h"
#include "joulecast/train/keep_operations.h"
#include "joulecast/train/train.h"

namespace joulecast::cli {
namespace {

constexpr const char* shipped = "shipped";
constexpr const char* none = "none";

void add(std::vector<std::string>& to, const std::vector<std::string>& more) {
    std::set<std::string> all(to.begin(), to.end());
    all.insert(more.begin(), more.end());
    to.assign(all.begin(), all.end());
}

bool are_own(const MeasuredRows& rows) {
    return std::ranges::all_of(rows.rows, [](const OperationRow& row) { return row.provenance.source == "own"; });
}

}  // namespace

void StartOption::declare(CLI::App& command) {
    command
        .add_option("--start-from", from_,
                    "a GPU with few measured operations starts from this predictor's model for other GPUs; none: it "
                    "always gets models of its own")
        ->type_name("FILE.jcp|shipped|none")
        ->capture_default_str();
}

void StartOption::read() {
    const auto file = from_ == shipped ? shipped_over_others(Device::Kind::gpu) : std::optional(from_);
    if (!file) return;
    Predictor predictor = read_jcp(*file);
    if (predictor.pooled.empty())
        throw UsageError("--start-from " + from_ + ": it has no model over devices, from which others could start");
    if (predictor.features != empty_predictor().features)
        throw Error(*file +
                    " has other features than this joulecast trains with, so nothing can start from it. Use "
                    "--start-from none, or a predictor of this version");
    path_ = *file;
    origin_ = std::move(predictor.origin);
    models_ = std::make_shared<const std::vector<PooledModel>>(std::move(predictor.pooled));
}

std::shared_ptr<const std::vector<PooledModel>> StartOption::models_for(const MeasuredRows& rows) {
    if (from_ == none || !are_own(rows)) return nullptr;
    if (rows.device.kind != Device::Kind::gpu && from_ == shipped) return nullptr;
    if (path_.empty()) read();
    return models_;
}

std::vector<KeptDevice> StartOption::kept_devices(const std::vector<MeasuredRows>& measured,
                                                  const TrainSettings& settings) {
    if (settings.learner && from_ != shipped && from_ != none)
        throw UsageError("--start-from " + from_ + " has no use for --learner: that is for models of the device's own");
    if (settings.learner) return {};
    std::map<std::string, std::vector<const MeasuredRows*>> devices;
    for (const MeasuredRows& rows : measured) devices[rows.device.id].push_back(&rows);
    std::vector<KeptDevice> kept;
    TrainSettings starting = settings;
    for (const auto& [id, of_device] : devices) {
        const auto can_start = [&](const MeasuredRows* rows) {
            starting.others = models_for(*rows);
            return can_start_from_others(rows->device, rows->setting, rows->operations, starting);
        };
        if (!std::ranges::all_of(of_device, can_start)) {
            if (from_ != shipped && from_ != none)
                std::cerr << "joulecast: " << id << " does not start from " << from_
                          << ": that is for GPUs whose operations you measured yourself, with torch, at one clock, and "
                             "timed apart from their issuing\n";
            continue;
        }
        for (const MeasuredRows* rows : of_device) {
            const Keep keep = rows == of_device.front() ? Keep::where_better : Keep::always;
            auto found = keep_operations(rows->device, rows->setting, rows->operations, starting, keep);
            if (!found) {
                std::cerr << "joulecast: " << id
                          << " gets models of its own: on operations left out they are clearly better than the "
                             "model for other GPUs\n";
                break;
            }
            kept.push_back(*std::move(found));
        }
    }
    return kept;
}

void StartOption::add_to(Predictor& predictor) const {
    predictor.pooled = *models_;
    Origin& own = predictor.origin;
    add(own.sources, origin_.sources);
    add(own.frameworks, origin_.frameworks);
    add(own.workers, origin_.workers);
    add(own.machines, origin_.machines);
    own.licence += "; " + origin_.licence;
    own.rows += origin_.rows;
}

}  // namespace joulecast::cli
