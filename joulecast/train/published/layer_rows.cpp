#include "joulecast/train/published/layer_rows.h"

#include <map>
#include <string_view>

namespace joulecast {

std::vector<float> LayerRows::features(std::size_t row) const {
    return samples.row(row);
}

LayerRows layer_rows(std::span<const Observation* const> rows,
                     const std::function<std::vector<float>(const Subject&)>& columns) {
    LayerRows layers{Samples(rows.size(), columns(rows.front()->subject).size()), {}, {}};
    std::map<std::string_view, std::size_t> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        layers.samples.set_row(i, columns(rows[i]->subject));
        layers.targets.push_back(rows[i]->value);
        layers.groups.push_back(groups.try_emplace(rows[i]->group, groups.size()).first->second);
    }
    return layers;
}

LayerRows rows_at(const LayerRows& rows, std::span<const std::size_t> places) {
    LayerRows some{Samples(places.size(), rows.samples.columns()), {}, {}};
    for (std::size_t i = 0; i < places.size(); ++i) {
        some.samples.set_row(i, rows.features(places[i]));
        some.targets.push_back(rows.targets[places[i]]);
        some.groups.push_back(rows.groups[places[i]]);
    }
    return some;
}

Model fit_layer_model(Learner learner, const LayerRows& rows, LearnerSettings settings) {
    settings.groups = rows.groups;
    settings.most_compared_rows = rows.targets.size();  // methods of others learn from every row, whatever it takes
    return fit_model(learner, rows.samples, rows.targets, settings);
}

}  // namespace joulecast
