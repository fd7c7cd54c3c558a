#include "joulecast/answer/session_networks.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/graph/unsupported_error.h"
#include "joulecast/learn/parallel.h"

namespace joulecast {
namespace {

/// Size and time of a file that a model names, so that one that was written anew is read anew. The zoo's are not looked
/// at: a question to the file system can take longer than a forecast.
std::string stamp(const std::string& model) {
    if (!names_file(model)) return "";
    std::error_code none;
    const auto size = std::filesystem::file_size(model, none);
    if (none) return "";
    const auto time = std::filesystem::last_write_time(model, none).time_since_epoch().count();
    return std::to_string(size) + "@" + std::to_string(time);
}

std::string execution_key(const Execution& execution) {
    const TrainingSetup& training = execution.training;
    return execution.engine + '\n' + execution.precision + '\n' + std::string(name(execution.memory_format)) + '\n' +
           std::string(name(execution.host)) + '\n' + std::string(name(training.optimizer)) + ' ' +
           std::to_string(training.form ? static_cast<int>(*training.form) : -1) + ' ' +
           std::to_string(training.accumulation) + (training.checkpointing ? " checkpointing" : "");
}

}  // namespace

std::string graph_key(const std::string& model, const SymbolValues& sizes, Mode mode) {
    return with_values(std::string(name(mode)) + '\n' + model + '\n' + stamp(model), sizes, "\n");
}

Session::Networks::Networks(Session& session, const Question& question, const std::vector<Asked>& devices)
    : session_(session),
      question_(question),
      devices_(devices),
      of_each_(executions(question, Mode::inference).size()) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const auto same = std::ranges::find_if(
            groups_, [&](const auto& group) { return devices[group.front()].on == devices[i].on; });
        same == groups_.end() ? groups_.push_back({i}) : same->push_back(i);
    }
    opened_ = std::vector<Opened>(sized() * question.modes.size());
    for (Opened& opened : opened_) opened.left = groups_.size() * of_each_;
    made_.resize(devices.size() * of_device());
    reasons_.resize(made_.size());
}

void Session::Networks::forecast() {
    in_parallel(opened_.size() * groups_.size(), 0,
                [&](std::size_t turn) { forecast_on(groups_[turn % groups_.size()], turn / groups_.size()); });
}

void Session::Networks::tell(Notes& notes) const {
    const auto has_forecasts = [](const std::vector<Forecast>& forecasts) { return !forecasts.empty(); };
    for (const std::string& reason : reasons_) {
        if (question_.leaves_out || reason.empty()) continue;
        if (std::ranges::none_of(made_, has_forecasts)) throw UnsupportedError(reason);
        notes.add("left out: " + reason);
    }
    for (const Opened& opened : opened_) {
        for (const std::string& note : opened.notes) notes.add(note);
    }
}

void Session::Networks::move_to(Answer& answer) {
    for (std::size_t i = 0; i < made_.size(); ++i) {
        if (!reasons_[i].empty())
            answer.left_out.push_back({i / of_device(), answer.forecasts.size(), std::move(reasons_[i])});
        std::ranges::move(made_[i], std::back_inserter(answer.forecasts));
    }
}

void Session::Networks::open(std::size_t turn) {
    const std::size_t place = turn % sized();
    const std::size_t network = place / question_.sizes.size();
    const SymbolValues& sizes = question_.sizes[place % question_.sizes.size()];
    const std::size_t named = question_.models.size();
    Opened& opened = opened_[turn];
    if (network >= named) {
        const auto& at_hand = question_.graphs[network - named];
        if (sizes.empty()) {
            opened.shared = at_hand;
        } else {
            opened.own = with_symbols(*at_hand, sizes);
        }
    } else if (session_.settings_.most_networks == 0) {
        opened.own = open_model(question_.models[network], shipped_folder("zoo"),
                                usual_sizes(question_.models[network], sizes, mode(turn)), mode(turn));
    } else {
        opened.shared = session_.network(question_.models[network], sizes, mode(turn));
    }
    const Graph& graph = opened.graph();
    for (const std::string& note : graph.notes) opened.notes.push_back(graph.name + ": " + note);
}

Session::Networks::Opened& Session::Networks::opened(std::size_t turn) {
    Opened& found = opened_[turn];
    std::call_once(found.opening, [&] { open(turn); });
    return found;
}

Graph Session::Networks::taken(std::size_t turn) {
    Opened& from = opened(turn);
    if (from.left == 1 && !from.shared) return std::move(from.own);
    return from.graph();
}

std::string Session::Networks::key(std::size_t turn, const WarmDevice& on, const Execution& execution) const {
    const std::size_t network = turn % sized() / question_.sizes.size();
    if (session_.settings_.most_networks == 0 || network >= question_.models.size()) return "";
    return on.name() + '\n' + execution_key(execution) + '\n' +
           graph_key(question_.models[network], question_.sizes[turn % sized() % question_.sizes.size()],
                     execution.mode);
}

Forecast Session::Networks::fresh(std::size_t turn, const std::shared_ptr<WarmDevice>& on, const Execution& execution) {
    Graph prepared = on->device().prepared(taken(turn), execution);
    Forecast forecast = session_.forecast(on, prepared, execution);
    forecast.network.memory_format = execution.memory_format;
    if (question_.keeps_graphs) forecast.graph = std::make_shared<const Graph>(std::move(prepared));
    return forecast;
}

std::shared_ptr<const Session::KeptNetwork> Session::Networks::kept(std::size_t turn,
                                                                    const std::shared_ptr<WarmDevice>& on,
                                                                    const Execution& execution) {
    const auto make = [&] {
        return std::make_shared<const KeptNetwork>(on, NetworkOverClocks(fresh(turn, on, execution)));
    };
    const std::string key = this->key(turn, *on, execution);
    if (key.empty() || question_.keeps_graphs) return make();
    {
        const std::scoped_lock alone(session_.keeping_);
        if (const auto* known = session_.networks_.find(key)) return *known;
    }
    auto made = make();
    if (made->network.forecast().network.operations.size() > largest_kept) return made;
    const std::scoped_lock alone(session_.keeping_);
    if (const auto* known = session_.networks_.find(key)) return *known;
    return session_.networks_.keep(key, std::move(made));
}

std::vector<std::vector<Forecast>> Session::Networks::on_each(std::size_t turn, const Group& group,
                                                              const Execution& execution) {
    const auto& on = devices_[group.front()].on;
    std::vector<std::vector<Forecast>> forecasts(group.size());
    if (group.size() == 1 && devices_[group.front()].points.empty() && session_.settings_.most_networks == 0) {
        forecasts.front().push_back(fresh(turn, on, execution));
        return forecasts;
    }
    const auto made = kept(turn, on, execution);
    for (std::size_t i = 0; i < group.size(); ++i) {
        const auto& points = devices_[group[i]].points;
        const bool lists = question_.lists_operations;
        if (points.empty()) forecasts[i].push_back(lists ? made->network.forecast() : made->network.summary());
        for (const OperatingPoint& point : points) forecasts[i].push_back(made->network.at(point, lists));
    }
    return forecasts;
}

std::string Session::Networks::forecast_in(std::size_t turn, const Group& group, std::size_t place,
                                           const Execution& execution) {
    const Asked& first = devices_[group.front()];
    if (const auto refused = first.refused.find(refusal_key(execution)); refused != first.refused.end())
        return refused->second;
    try {
        auto forecasts = on_each(turn, group, first.settled(execution));
        for (std::size_t i = 0; i < group.size(); ++i) {
            for (Forecast& forecast : forecasts[i]) {
                forecast.device = group[i];
                forecast.note = devices_[group[i]].note;
            }
            made_[group[i] * of_device() + place] = std::move(forecasts[i]);
        }
    } catch (const UnsupportedError& error) {
        return error.what();
    } catch (const Error& error) {
        if (!question_.leaves_out) throw;
        return error.what();
    }
    return "";
}

void Session::Networks::forecast_on(const Group& group, std::size_t turn) {
    if (question_.leaves_out) opened(turn);  // what cannot be read is no device's fault
    std::size_t place = (turn % sized() * question_.modes.size() + turn / sized()) * of_each_;
    for (const Execution& execution : executions(question_, mode(turn))) {
        const std::string why = forecast_in(turn, group, place, execution);
        for (const std::size_t i : group) reasons_[i * of_device() + place] = why;
        ++place;
        if (--opened_[turn].left == 0) opened_[turn].own = {};
    }
}

}  // namespace joulecast
