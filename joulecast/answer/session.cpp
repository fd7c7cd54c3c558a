#include "joulecast/answer/session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "joulecast/answer/asked_operation.h"
#include "joulecast/answer/clock_points.h"
#include "joulecast/answer/session_networks.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/device/device_argument.h"
#include "joulecast/error.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/units/joined.h"

namespace joulecast {
namespace {

constexpr std::size_t most_graphs = 64;

/// What the user must know of the device that answers for that name.
std::string choice_note(const std::string& named, const LoadedDevice& device) {
    const std::string meant = meant_by(named, device.device());
    return meant.empty() || device.note().empty() ? meant + device.note() : meant + "; " + device.note();
}

/// The same in a few words.
std::string short_choice_note(const std::string& named, const LoadedDevice& device) {
    const std::string meant = meant_by(named, device.device());
    const std::string note = device.short_note();
    if (note.empty() || note == device.note()) return choice_note(named, device);
    return meant.empty() ? device.device().id + ": " + note : meant + "; " + note;
}

/// Those that are asked for by name.
std::vector<std::string> engines_of(const std::vector<Execution>& executions) {
    std::set<std::string> engines;
    for (const Execution& execution : executions)
        if (!execution.engine.empty()) engines.insert(execution.engine);
    return {engines.begin(), engines.end()};
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
    std::vector<std::string> engines = {};  ///< that it is asked for by name

    /// Of what may be kept.
    std::string key() const {
        return name + '\n' + host_cpu + (gpus_alone && !host_cpu.empty() ? "\nGPUs" : "") +
               (engines.empty() ? "" : "\n" + joined(engines));
    }
};

void Session::Notes::add(const std::string& note) {
    if (note.empty() || std::ranges::find(all_, note) != all_.end()) return;
    all_.push_back(note);
    if (tell_) tell_(note);
}

Execution Session::Asked::settled(Execution execution) const {
    execution.precision = on->device().settled(execution);
    return execution;
}

Session::Session(SessionSettings settings)
    : settings_(std::move(settings)),
      devices_(2 * settings_.most_devices),  // by name, and by what the name means
      graphs_(most_graphs),
      networks_(settings_.most_networks) {}

Session::~Session() = default;

std::shared_ptr<WarmDevice> Session::loaded(const Wanted& wanted, Notes& notes) {
    LoadedDevice device(wanted.name, settings_.predictor, settings_.database, wanted.engines);
    notes.add(device.database_note());
    notes.add(short_choice_note(wanted.name, device));
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
                 {device.database_note(), short_choice_note(wanted.name, device), device.issuer_note()})
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

AnsweringDevice Session::device(const std::string& name, const std::string& host_cpu, const std::string& engine) {
    std::vector<std::string> unheard;
    const Tell nobody;
    Notes notes(unheard, nobody);
    Wanted wanted{.name = name, .host_cpu = host_cpu, .worker = ""};
    if (!engine.empty()) wanted.engines = {engine};
    const auto on = warm(wanted, notes);
    return {name, device_of(on), choice_note(name, on->device()), short_choice_note(name, on->device())};
}

std::shared_ptr<const Graph> Session::network(const std::string& model, const SymbolValues& sizes, Mode mode) {
    const auto open = [&] {
        return std::make_shared<const Graph>(
            open_model(model, shipped_folder("zoo"), usual_sizes(model, sizes, mode), mode));
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
Session::Asked Session::asked(const DeviceAtClock& named, const Question& question,
                              const std::vector<Execution>& executions, Notes& notes) {
    Asked asked;
    asked.on = warm({named.device, question.host_cpu, question.leaves_out, question.at_pace_of_now, question.worker,
                     engines_of(executions)},
                    notes);
    const LoadedDevice& device = asked.on->device();
    asked.note = choice_note(named.device, device);
    asked.points = points_asked(named.asked, question.clocks, device.device());
    // A network that is kept will be asked for other clocks.
    if (!asked.points.empty() || question.wants_other_clocks || settings_.most_networks > 0)
        asked.on->calibrate_clocks();
    if (question.leaves_out) return asked;
    std::set<const DeviceModel*> used;
    std::set<std::string> told;
    for (const Execution& execution : executions) {
        if (auto why = device.refusal_of(execution)) {
            asked.refused.try_emplace(refusal_key(execution), std::move(*why));
            continue;
        }
        const DeviceModel& model = device.model_for(execution);
        if (auto note = device.settled_note(execution); told.insert(note).second) notes.add(note);
        if (used.insert(&model).second) notes.add(device.measured_note(model));
    }
    return asked;
}

Forecast Session::forecast(const std::shared_ptr<WarmDevice>& on, const Graph& prepared, const Execution& execution) {
    const LoadedDevice& device = on->device();
    Forecast forecast;
    forecast.network = on->forecast(prepared, execution);
    forecast.device_name = device.device().display_name;
    forecast.origin = std::make_shared<const Origin>(device.origin());
    forecast.model = &device.model_for(execution);
    forecast.threads = LoadedDevice::computing_threads(*forecast.model);
    forecast.assumed_host = default_extra(*forecast.model, forecast.network.point.host, forecast.network.mode);
    return forecast;
}

/// Throws UsageError where no device has any of what is asked; tells what is left out where some have.
void Session::check_refused(const std::vector<Asked>& devices, const std::vector<Execution>& executions, Notes& notes) {
    std::set<std::string> ways;
    for (const Execution& execution : executions) ways.insert(refusal_key(execution));
    const auto refuses_all = [&](const Asked& asked) { return asked.refused.size() == ways.size(); };
    if (!devices.empty() && std::ranges::all_of(devices, refuses_all) && !devices.front().refused.empty())
        throw UsageError(devices.front().refused.begin()->second);
    for (const Asked& asked : devices) {
        for (const auto& [way, why] : asked.refused) notes.add("left out: " + why);
    }
}

void Session::answer_networks(const Question& question, const std::vector<Asked>& devices, Answer& answer,
                              Notes& notes) {
    Networks networks(*this, question, devices);
    networks.forecast();
    networks.tell(notes);
    networks.move_to(answer);
}

/// Each in the types of its signature.
void Session::answer_calls(const Question& question, const std::vector<Asked>& devices, Answer& answer) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        for (const Operation& operation : question.operations) {
            for (const Execution& execution : executions(operation, question)) {
                if (const auto refused = devices[i].refused.find(refusal_key(execution));
                    refused != devices[i].refused.end()) {
                    answer.left_out.push_back({i, answer.forecasts.size(), refused->second});
                    continue;
                }
                Forecast call = forecast(devices[i].on, graph_of(operation), devices[i].settled(execution));
                if (call.network.unknown_nodes > 0) throw Error(no_forecast_text(operation, call.network.method));
                call.device = i;
                call.note = devices[i].note;
                if (devices[i].points.empty()) {
                    answer.forecasts.push_back(std::move(call));
                    continue;
                }
                const NetworkOverClocks clocked(std::move(call));
                for (const OperatingPoint& point : devices[i].points)
                    answer.forecasts.push_back(clocked.at(point, true));
            }
        }
    }
}

Answer Session::answer(const Question& question, const Tell& tell) {
    std::vector<Execution> wanted;
    for (const Operation& operation : question.operations)
        std::ranges::move(executions(operation, question), std::back_inserter(wanted));
    if (question.operations.empty()) wanted = executions(question, Mode::inference);
    Answer answer;
    Notes notes(answer.notes, tell);
    std::vector<Asked> devices;
    for (const DeviceAtClock& named : question.devices) {
        devices.push_back(asked(named, question, wanted, notes));
        answer.devices.push_back({named.device, device_of(devices.back().on), devices.back().note,
                                  short_choice_note(named.device, devices.back().on->device())});
    }
    check_refused(devices, wanted, notes);
    if (question.operations.empty()) {
        answer_networks(question, devices, answer, notes);
    } else {
        answer_calls(question, devices, answer);
    }
    return answer;
}

}  // namespace joulecast
