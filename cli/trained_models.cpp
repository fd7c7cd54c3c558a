#include "cli/trained_models.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/train_method.h"

namespace joulecast::cli {
namespace {

/// One learned model, as a line of the table.
struct TrainedModel {
    std::string device;
    std::string math;
    std::string family;  ///< of a published method: what its regression is of
    Metric metric = Metric::time;
    std::int64_t rows = 0;
    std::size_t targets = 0;
    Learner learner = Learner::extra_trees;
};

TrainedModel trained_model(const std::string& device, Math math, const FamilyModel& model) {
    return {device,
            std::string(name(math)),
            std::string(name(model.family)),
            model.metric,
            model.rows,
            model.targets.size(),
            model.learner};
}

const std::vector<Column<TrainedModel>>& model_columns() {
    static const std::vector<Column<TrainedModel>> list = {
        {"device", "device", Show::text, [](const TrainedModel& t) { return t.device; }},
        {"math", "math", Show::text, [](const TrainedModel& t) { return t.math; }},
        {"family", "family", Show::text, [](const TrainedModel& t) { return t.family; }},
        {"metric", "metric", Show::text, [](const TrainedModel& t) { return std::string(name(t.metric)); }},
        {"rows", "rows", Show::count, [](const TrainedModel& t) { return t.rows; }},
        {"targets", "kinds", Show::count, [](const TrainedModel& t) { return static_cast<std::int64_t>(t.targets); }},
        {"learner", "learner", Show::text, [](const TrainedModel& t) { return std::string(name(t.learner)); }},
    };
    return list;
}

std::vector<TrainedModel> models(const Predictor& predictor) {
    std::vector<TrainedModel> models;
    for (const DeviceModel& device : predictor.devices) {
        for (const FamilyModel& model : device.models)
            models.push_back(trained_model(device.device.id, device.point.math, model));
        if (!device.published) continue;
        for (const PublishedRegression& regression : device.published->regressions)
            models.push_back({device.device.id, std::string(name(device.point.math)), layer_of(regression, device),
                              regression.metric, regression.rows, std::max<std::size_t>(1, regression.layers.size()),
                              regression.learner});
    }
    if (!predictor.kept.empty()) return models;  // what these start from was trained before
    for (const PooledModel& pooled : predictor.pooled) {
        for (const Expert& expert : pooled.experts)
            models.push_back(trained_model(expert.device + ", for others", pooled.point.math, expert.model));
    }
    return models;
}

}  // namespace

Table trained_models(const Predictor& predictor) {
    return fill(model_columns(), models(predictor));
}

}  // namespace joulecast::cli
