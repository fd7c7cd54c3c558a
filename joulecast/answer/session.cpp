#include "joulecast/answer/session.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "joulecast/answer/asked_operation.h"
#include "joulecast/answer/clock_points.h"
#include "joulecast/answer/network_over_clocks.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/answer/warm_device.h"
#include "joulecast/device/device_argument.h"
#include "joulecast/error.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/learn/parallel.h"

namespace joulecast {
namespace {

constexpr std::size_t most_graphs = 64;
/// Nodes of a graph that is kept, and different operations of a forecast.
constexpr std::size_t largest_kept = 20'000;

/// Size and time of a file that a model names, so that one that was written anew is read anew.
std::string stamp(const std::string& model) {
    std::error_code none;
    const auto size = std::filesystem::file_size(model, none);
    if (none) return "";
    const auto time = std::filesystem::last_write_time(model, none).time_since_epoch().count();
    return std::to_string(size) + "@" + std::to_string(time);
}

std::string graph_key(const std::string& model, const SymbolValues& sizes, Mode mode) {
    return with_values(std::string(name(mode)) + '\n' + model + '\n' + stamp(model), sizes, "\n");
}

std::string execution_key(const Execution& execution) {
    const TrainingSetup& training = execution.training;
    return execution.precision + '\n' + std::string(name(execution.host)) + '\n' +
           std::string(name(training.optimizer)) + ' ' +
           std::to_string(training.form ? static_cast<int>(*training.form) : -1) + ' ' +
           std::to_string(training.accumulation) + (training.checkpointing ? " checkpointing" : "");
}

/// What the user must know of the device that answers for that name.
std::string choice_note(const std::string& named, const LoadedDevice& device) {
    const std::string meant = meant_by(named, device.device());
    return meant.empty() || device.note().empty() ? meant + device.note() : meant + "; " + device.note();
}

std::shared_ptr<const LoadedDevice> device_of(const std::shared_ptr<WarmDevice>& on) {
    return {on, &on->device()};
}

}  // namespace

/// A device as a question names it.
struct Session::Wanted {
    std::string name;
    std::string host_cpu;
    bool gpus_alone = false;  ///< have another host CPU
    bool at_pace_of_now = false;
    std::string worker;

    /// Of what may be kept.
    std::string key() const { return name + '\n' + host_cpu + (gpus_alone && !host_cpu.empty() ? "\nGPUs" : ""); }
};

/// What answers for a device of a question.
struct Session::Asked {
    std::shared_ptr<WarmDevice> on;
    std::string note;
    std::vector<OperatingPoint> points;          ///< none: the clock that it was measured at
    std::map<std::string, std::string> refused;  ///< precisions that it has not, with the reason

    /// As the device takes it: with what PyTorch's default precision is there.
    Execution settled(Execution execution) const {
        execution.precision = on->device().settled(execution.precision);
        return execution;
    }
};

struct Session::KeptNetwork {
    std::shared_ptr<WarmDevice> on;  ///< whose models the network refers to
    NetworkOverClocks network;
};

class Session::Notes {
  public:
    Notes(std::vector<std::string>& all, const Tell& tell) : all_(all), tell_(tell) {}
    void add(const std::string& note) {
        if (note.empty()) return;
        all_.push_back(note);
        if (tell_) tell_(note);
    }

  private:
    std::vector<std::string>& all_;
    const Tell& tell_;
};

Session::Session(SessionSettings settings)
    : settings_(std::move(settings)),
      devices_(2 * settings_.most_devices),  // by name, and by what the name means
      graphs_(most_graphs),
      networks_(settings_.most_networks) {}

Session::~Session() = default;

std::shared_ptr<WarmDevice> Session::loaded(const Wanted& wanted, Notes& notes) {
    LoadedDevice device(wanted.name, settings_.predictor, settings_.database);
    notes.add(device.database_note());
    notes.add(choice_note(wanted.name, device));
    if (!wanted.gpus_alone || device.device().kind == Device::Kind::gpu) device.issue_from(wanted.host_cpu);
    notes.add(device.issuer_note());
    if (wanted.at_pace_of_now) device.follow_pace(wanted.worker);
    notes.add(device.pace_note());
    // The figures of a sheet in a file may be others than those of its id.
    const bool is_file = wanted.name.ends_with(".json");
    std::string name = is_file ? wanted.key()
                               : device.device().id + '\n' + device.note() + '\n' + device.issuer_note() + '\n' +
                                     device.predictor_path();
    return std::make_shared<WarmDevice>(std::move(name), std::move(device), settings_.most_operations);
}

std::shared_ptr<WarmDevice> Session::warm(const Wanted& wanted, Notes& notes) {
    if (wanted.at_pace_of_now) return loaded(wanted, notes);
    const std::string key = wanted.key();
    {
        std::shared_ptr<WarmDevice> known;
        {
            const std::scoped_lock alone(keeping_);
            if (const auto* found = devices_.find(key)) known = *found;
        }
        if (known) {
            const LoadedDevice& device = known->device();
            for (const std::string& note :
                 {device.database_note(), choice_note(wanted.name, device), device.issuer_note()})
                notes.add(note);
            return known;
        }
    }
    // Two threads may load the same device at once; the first one's is kept then.
    auto fresh = loaded(wanted, notes);
    const std::scoped_lock alone(keeping_);
    if (const auto* found = devices_.find(key)) return *found;
    // By another name it may be here already.
    if (const auto* found = devices_.find(fresh->name())) return devices_.keep(key, std::shared_ptr(*found));
    if (fresh->name() != key) devices_.keep(fresh->name(), fresh);
    return devices_.keep(key, std::move(fresh));
}

AnsweringDevice Session::device(const std::string& name, const std::string& host_cpu) {
    std::vector<std::string> unheard;
    const Tell nobody;
    Notes notes(unheard, nobody);
    const auto on = warm({.name = name, .host_cpu = host_cpu, .worker = ""}, notes);
    return {name, device_of(on), choice_note(name, on->device())};
}

std::shared_ptr<const Graph> Session::network(const std::string& model, const SymbolValues& sizes, Mode mode) {
    const auto open = [&] {
        return std::make_shared<const Graph>(open_model(model, shipped_folder("zoo"), sizes, mode));
    };
    if (settings_.most_networks == 0) return open();
    const std::string key = graph_key(model, sizes, mode);
    {
        const std::scoped_lock alone(keeping_);
        if (const auto* known = graphs_.find(key)) return *known;
    }
    auto fresh = open();
    if (fresh->nodes.size() > largest_kept) return fresh;
    const std::scoped_lock alone(keeping_);
    if (const auto* known = graphs_.find(key)) return *known;
    return graphs_.keep(key, std::move(fresh));
}

/// Adds what the forecasts on that device rest on, and throws UsageError for a host that it does not have.
Session::Asked Session::asked(const DeviceAtClock& named, const Question& question, const std::vector<Execution>& all,
                              Notes& notes) {
    Asked asked;
    asked.on =
        warm({named.device, question.host_cpu, question.leaves_out, question.at_pace_of_now, question.worker}, notes);
    const LoadedDevice& device = asked.on->device();
    asked.note = choice_note(named.device, device);
    asked.points = points_asked(named.asked, question.clocks, device.device());
    // A network that is kept will be asked for other clocks.
    if (!asked.points.empty() || question.wants_other_clocks || settings_.most_networks > 0)
        asked.on->calibrate_clocks();
    if (question.leaves_out) return asked;
    std::set<const DeviceModel*> used;
    std::set<std::string> told;
    for (const Execution& execution : all) {
        if (auto why = device.refusal_of(execution.precision)) {
            asked.refused.try_emplace(execution.precision, std::move(*why));
            continue;
        }
        const DeviceModel& model = device.model_for(execution.precision, execution.host);
        if (told.insert(execution.precision).second) notes.add(device.settled_note(execution.precision));
        if (used.insert(&model).second) notes.add(device.measured_note(model));
    }
    return asked;
}

Forecast Session::forecast(const std::shared_ptr<WarmDevice>& on, const Graph& prepared, const Execution& execution) {
    const LoadedDevice& device = on->device();
    Forecast one;
    one.network = on->forecast(prepared, execution);
    one.device_name = device.device().display_name;
    one.origin = std::make_shared<const Origin>(device.origin());
    one.model = &device.model_for(execution.precision, execution.host);
    one.assumed_host = default_extra(*one.model, one.network.point.host, one.network.mode);
    return one;
}

/// The networks of a question: every one at each of its sizes in each mode.
class Session::Networks {
  public:
    Networks(Session& session, const Question& question, const std::vector<Asked>& devices)
        : session_(session), question_(question), devices_(devices) {
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const auto same = std::ranges::find_if(
                groups_, [&](const auto& group) { return devices[group.front()].on == devices[i].on; });
            same == groups_.end() ? groups_.push_back({i}) : same->push_back(i);
        }
        opened_ = std::vector<Opened>(sized() * question.modes.size());
        for (Opened& opened : opened_) opened.left = groups_.size() * of_each();
        made_.resize(devices.size() * of_device());
        reasons_.resize(made_.size());
    }

    /// Mode after mode: side by side, two modes of a network would forecast the same kernels at the same time.
    void forecast() {
        in_parallel(opened_.size() * groups_.size(), 0,
                    [&](std::size_t turn) { forecast_on(groups_[turn % groups_.size()], turn / groups_.size()); });
    }

    void move_to(Answer& answer) {
        for (std::size_t i = 0; i < made_.size(); ++i) {
            if (!reasons_[i].empty())
                answer.left_out.push_back({i / of_device(), answer.forecasts.size(), std::move(reasons_[i])});
            std::ranges::move(made_[i], std::back_inserter(answer.forecasts));
        }
    }

  private:
    /// A network at one size in one mode, read when it is first needed.
    struct Opened {
        std::once_flag opening;
        Graph own;                            ///< that nobody keeps
        std::shared_ptr<const Graph> shared;  ///< else
        std::atomic<std::size_t> left = 0;    ///< executions on devices that want it

        const Graph& graph() const { return shared ? *shared : own; }
    };

    std::size_t networks() const { return question_.models.size() + question_.graphs.size(); }
    std::size_t sized() const { return networks() * question_.sizes.size(); }
    std::size_t of_each() const { return question_.precisions.size() * question_.hosts.size(); }
    std::size_t of_device() const { return sized() * question_.modes.size() * of_each(); }

    void open(std::size_t turn) {
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
            opened.own = open_model(question_.models[network], shipped_folder("zoo"), sizes, mode(turn));
        } else {
            opened.shared = session_.network(question_.models[network], sizes, mode(turn));
        }
    }

    Mode mode(std::size_t turn) const { return question_.modes[turn / sized()]; }

    Opened& opened(std::size_t turn) {
        Opened& found = opened_[turn];
        std::call_once(found.opening, [&] { open(turn); });
        return found;
    }

    /// A copy; the graph itself for the last one that wants it, where nobody keeps it.
    Graph taken(std::size_t turn) {
        Opened& from = opened(turn);
        if (from.left == 1 && !from.shared) return std::move(from.own);
        return from.graph();
    }

    /// Of a network that may be kept; else empty.
    std::string key(std::size_t turn, const WarmDevice& on, const Execution& execution) const {
        const std::size_t network = turn % sized() / question_.sizes.size();
        if (session_.settings_.most_networks == 0 || network >= question_.models.size()) return "";
        return on.name() + '\n' + execution_key(execution) + '\n' +
               graph_key(question_.models[network], question_.sizes[turn % sized() % question_.sizes.size()],
                         execution.mode);
    }

    Forecast fresh(std::size_t turn, const std::shared_ptr<WarmDevice>& on, const Execution& execution) {
        Graph prepared = on->device().prepared(taken(turn), execution);
        Forecast one = session_.forecast(on, prepared, execution);
        if (question_.keeps_graphs) one.graph = std::make_shared<const Graph>(std::move(prepared));
        return one;
    }

    std::shared_ptr<const KeptNetwork> kept(std::size_t turn, const std::shared_ptr<WarmDevice>& on,
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

    /// In one execution on one device, under all names that the question has for it.
    std::vector<std::vector<Forecast>> on_each(std::size_t turn, const std::vector<std::size_t>& group,
                                               const Execution& execution) {
        const auto& on = devices_[group.front()].on;
        std::vector<std::vector<Forecast>> all(group.size());
        if (group.size() == 1 && devices_[group.front()].points.empty() && session_.settings_.most_networks == 0) {
            all.front().push_back(fresh(turn, on, execution));
            return all;
        }
        const auto made = kept(turn, on, execution);
        for (std::size_t i = 0; i < group.size(); ++i) {
            const auto& points = devices_[group[i]].points;
            const bool lists = question_.lists_operations;
            if (points.empty()) all[i].push_back(lists ? made->network.forecast() : made->network.summary());
            for (const OperatingPoint& point : points) all[i].push_back(made->network.at(point, lists));
        }
        return all;
    }

    /// Why it was left out; empty where it was not.
    std::string forecast_in(std::size_t turn, const std::vector<std::size_t>& group, std::size_t place,
                            const Execution& execution) {
        const Asked& first = devices_[group.front()];
        if (const auto refused = first.refused.find(execution.precision); refused != first.refused.end())
            return refused->second;
        try {
            auto all = on_each(turn, group, first.settled(execution));
            for (std::size_t i = 0; i < group.size(); ++i) {
                for (Forecast& one : all[i]) {
                    one.device = group[i];
                    one.note = devices_[group[i]].note;
                }
                made_[group[i] * of_device() + place] = std::move(all[i]);
            }
        } catch (const Error& error) {
            if (!question_.leaves_out) throw;
            return error.what();
        }
        return "";
    }

    void forecast_on(const std::vector<std::size_t>& group, std::size_t turn) {
        if (question_.leaves_out) opened(turn);  // what cannot be read is no device's fault
        std::size_t place = (turn % sized() * question_.modes.size() + turn / sized()) * of_each();
        for (const Execution& execution : executions(question_, mode(turn))) {
            const std::string why = forecast_in(turn, group, place, execution);
            for (const std::size_t i : group) reasons_[i * of_device() + place] = why;
            ++place;
            if (--opened_[turn].left == 0) opened_[turn].own = {};
        }
    }

    Session& session_;
    const Question& question_;
    const std::vector<Asked>& devices_;
    std::vector<std::vector<std::size_t>> groups_;  ///< places of devices that are the same one
    std::vector<Opened> opened_;
    std::vector<std::vector<Forecast>> made_;  ///< by device, then in the order of forecasts
    std::vector<std::string> reasons_;         ///< why they were left out; else empty
};

/// Throws UsageError where no device has any of what is asked; tells what is left out where some have.
void Session::check_refused(const std::vector<Asked>& devices, const std::vector<Execution>& all, Notes& notes) {
    std::set<std::string> precisions;
    for (const Execution& execution : all) precisions.insert(execution.precision);
    const auto refuses_all = [&](const Asked& asked) { return asked.refused.size() == precisions.size(); };
    if (!devices.empty() && std::ranges::all_of(devices, refuses_all) && !devices.front().refused.empty())
        throw UsageError(devices.front().refused.begin()->second);
    for (const Asked& asked : devices) {
        for (const auto& [precision, why] : asked.refused) notes.add("left out: " + why);
    }
}

void Session::answer_networks(const Question& question, const std::vector<Asked>& devices, Answer& answer) {
    Networks networks(*this, question, devices);
    networks.forecast();
    networks.move_to(answer);
}

/// Each in the types of its signature.
void Session::answer_calls(const Question& question, const std::vector<Asked>& devices, Answer& answer) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        for (const Operation& operation : question.operations) {
            for (const Execution& execution : executions(operation, question)) {
                if (const auto refused = devices[i].refused.find(execution.precision);
                    refused != devices[i].refused.end()) {
                    answer.left_out.push_back({i, answer.forecasts.size(), refused->second});
                    continue;
                }
                Forecast one = forecast(devices[i].on, graph_of(operation), devices[i].settled(execution));
                if (one.network.unknown_nodes > 0) throw Error(no_forecast_text(operation, one.network.method));
                one.device = i;
                one.note = devices[i].note;
                if (devices[i].points.empty()) {
                    answer.forecasts.push_back(std::move(one));
                    continue;
                }
                const NetworkOverClocks clocked(std::move(one));
                for (const OperatingPoint& point : devices[i].points)
                    answer.forecasts.push_back(clocked.at(point, true));
            }
        }
    }
}

Answer Session::answer(const Question& question, const Tell& tell) {
    std::vector<Execution> all;
    for (const Operation& operation : question.operations)
        std::ranges::move(executions(operation, question), std::back_inserter(all));
    if (question.operations.empty()) all = executions(question, Mode::inference);
    Answer answer;
    Notes notes(answer.notes, tell);
    std::vector<Asked> devices;
    for (const DeviceAtClock& named : question.devices) {
        devices.push_back(asked(named, question, all, notes));
        answer.devices.push_back({named.device, device_of(devices.back().on), devices.back().note});
    }
    check_refused(devices, all, notes);
    question.operations.empty() ? answer_networks(question, devices, answer) : answer_calls(question, devices, answer);
    return answer;
}

}  // namespace joulecast
