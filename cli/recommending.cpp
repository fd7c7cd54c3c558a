#include "cli/recommending.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "cli/forecast_words.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/profile/clock_settings.h"
#include "joulecast/recommend/mix.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

/// Notes, each of them once.
class EachOnce {
  public:
    explicit EachOnce(const Session::Tell& tell) : tell_(tell) {}
    void operator()(const std::string& note) {
        if (!note.empty() && told_.insert(note).second) tell_(note);
    }

  private:
    const Session::Tell& tell_;
    std::set<std::string> told_;
};

/// A phase of a network over sequences, or the network itself.
struct Phase {
    std::string name;
    std::string model;
    std::vector<SymbolValues> sizes;
    std::vector<Mode> modes;
    bool is_named = true;  ///< by the user; else it goes with what was
};

/// The sizes of the graph that takes one further token: what was the sequence lies behind it.
SymbolValues decode_sizes(SymbolValues sizes, std::int64_t sequence) {
    const auto given = sizes.find("sequence");
    if (given != sizes.end()) sequence = given->second;
    sizes.erase("sequence");
    sizes.try_emplace("past", sequence);
    return sizes;
}

/// The zoo's graph of one decoding step of that network, where it has one.
std::optional<std::string> decode_of(const std::string& model) {
    std::string name = model + "-decode";
    const auto names = zoo_names(shipped_folder("zoo"));
    if (std::ranges::find(names, name) == names.end()) return std::nullopt;
    return name;
}

/// The network, and for a language model of the zoo the decoding step, too.
std::vector<Phase> phases_of(const std::string& model, const Question& question, EachOnce& tell) {
    const auto decode = decode_of(model);
    std::vector<SymbolValues> own = question.sizes;
    if (decode) {
        for (SymbolValues& sizes : own) sizes.erase("past");  // that of the decoding step
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    const Graph graph = open_model(model, shipped_folder("zoo"), own.front(), question.modes.front());
    for (const std::string& note : graph.notes) tell(graph.name + ": " + note);
    std::vector<Phase> phases{{"", model, own, question.modes}};
    if (graph.symbols.contains("past")) phases.front().name = "decode";
    const bool infers = std::ranges::find(question.modes, Mode::inference) != question.modes.end();
    if (!graph.symbols.contains("sequence") || !infers) return phases;
    phases.front().name = "prefill";
    if (!decode) return phases;
    Phase& step = phases.emplace_back(Phase{"decode", *decode, {}, {Mode::inference}, false});
    for (const SymbolValues& sizes : question.sizes)
        step.sizes.push_back(decode_sizes(sizes, graph.symbols.at("sequence").value));
    return phases;
}

Goal goal_of(Goal goal, const Phase& phase) {
    if (phase.is_named) return goal;
    // A job counts runs of the model that was named; nobody said how many tokens follow.
    goal.limits.job_s.reset();
    if (goal.job) goal.limits.price.reset();
    goal.job.reset();
    return goal;
}

/// Whoever asks from a program has no option's own checks before it.
void check_numbers(const Choice& choice) {
    const Goal& goal = choice.goal;
    for (const LimitRule& limit : limit_rules()) {
        if (goal.limits.*limit.limit && !(*(goal.limits.*limit.limit) > 0))
            throw UsageError(std::string(limit.flag) + " must be above zero");
    }
    if (goal.job && !(goal.job->samples > 0)) throw UsageError("--samples must be above zero");
    if (goal.prices.electricity_per_kwh < 0 || goal.prices.carbon_g_per_kwh < 0)
        throw UsageError("--electricity-price and --carbon must not be negative");
    for (const auto& [device, price] : choice.device_prices) {
        if (!(price >= 0)) throw UsageError("--device-price must not be negative");
    }
}

void check(const Choice& choice) {
    check_numbers(choice);
    if (!choice.weights.empty() && choice.weights.size() != choice.question.models.size())
        throw UsageError("--weights takes a number for each of the " + std::to_string(choice.question.models.size()) +
                         " networks, not " + std::to_string(choice.weights.size()));
    for (const DeviceAtClock& named : choice.question.devices) {
        if (!std::isnan(named.asked.sm_clock_mhz))
            throw UsageError("recommend chooses the clock: name " + named.device +
                             " without @, and the clocks to choose from with --clocks");
    }
    const Goal& goal = choice.goal;
    const bool device_prices = !choice.device_prices.empty();
    if (const auto missing = missing_prices(goal.objective, goal.prices, device_prices))
        throw UsageError("--minimise " + std::string(rule(goal.objective).name) + ": " + *missing);
    if (goal.limits.price) {
        if (const auto missing = missing_prices(Objective::price, goal.prices, device_prices))
            throw UsageError("--max-price: " + *missing);
    }
    if (goal.limits.job_s && !goal.job) throw UsageError("--max-hours needs --samples N");
}

/// All devices, their predictors and the database read once, side by side.
std::vector<AnsweringDevice> load_devices(Session& session, const Question& question) {
    std::vector<AnsweringDevice> devices(question.devices.size());
    in_parallel(devices.size(), 0, [&](std::size_t i) {
        Question of_device;
        of_device.devices = {question.devices[i]};
        of_device.host_cpu = question.host_cpu;
        of_device.wants_other_clocks = true;
        of_device.leaves_out = true;
        devices[i] = session.answer(of_device).devices.front();
    });
    return devices;
}

/// Within the usual slowdown where nobody named one, unless that leaves nothing.
void choose(Answered& answered, std::vector<Candidate> candidates, Goal goal, const Choice& choice, EachOnce& tell) {
    const bool saves = goal.objective == Objective::energy || goal.objective == Objective::carbon;
    const bool is_usual = saves && choice.keeps_usual_slowdown && !goal.limits.time_ratio;
    if (is_usual) {
        Goal within = goal;
        within.limits.time_ratio = usual_slowdown;
        answered.recommendation = recommend(candidates, within);
        answered.slowdown_is_usual = !answered.recommendation.empty();
        if (answered.slowdown_is_usual) return;
    }
    answered.recommendation = recommend(std::move(candidates), goal);
    if (is_usual && !answered.recommendation.empty())
        tell(answered.model + ": nothing holds the limits with at most 10 % more time; chosen without that bound");
}

Answered answered(const Phase& phase, Session& session, const Choice& choice, EachOnce& tell) {
    Question question = choice.question;
    question.models = {phase.model};
    question.sizes = phase.sizes;
    question.modes = phase.modes;
    if (!phase.is_named) question.training = {};
    question.wants_other_clocks = true;
    question.leaves_out = true;
    const Answer answer = session.answer(question);
    Survey survey = survey_devices(answer, choice.grid, choice.device_prices);
    for (const std::string& note : survey.notes) tell(note);
    for (const std::string& reason : survey.left_out) tell("left out: " + reason);
    Answered answered;
    answered.phase = phase.name;
    answered.model = answer.forecasts.front().network.model;
    answered.left_out = std::move(survey.left_out);
    for (const AnsweringDevice& device : answer.devices) {
        for (const std::string& note : {device.note, device.loaded->issuer_note()}) {
            if (!note.empty()) answered.notes.push_back(note);
        }
    }
    answered.predictors = std::move(survey.predictors);
    answered.devices = std::move(survey.devices);
    answered.unknown_operations.assign(survey.unknown.begin(), survey.unknown.end());
    answered.method = survey.method;
    choose(answered, std::move(survey.candidates), goal_of(choice.goal, phase), choice, tell);
    return answered;
}

/// One setting for all networks.
Answered of_mix(const std::vector<Answered>& networks, const Choice& choice, EachOnce& tell) {
    Answered mix = networks.front();
    mix.phase.clear();
    mix.network = networks.size();
    std::vector<std::vector<Candidate>> candidates;
    std::vector<std::string> names;
    for (const Answered& network : networks) {
        candidates.push_back(network.recommendation.candidates);
        names.push_back(network.model);
        mix.unknown_operations.insert(mix.unknown_operations.end(), network.unknown_operations.begin(),
                                      network.unknown_operations.end());
    }
    mix.model = joined(names, " + ");
    std::vector<Candidate> ways = mixed(candidates, choice.weights);
    if (ways.empty()) throw UsageError("no device runs all of " + joined(names) + " at one setting");
    choose(mix, std::move(ways), choice.goal, choice, tell);
    return mix;
}

}  // namespace

Grid grid(const std::string& clocks, const std::string& power_limits) {
    const ClockWish wish = parse_clock_wish(clocks, power_limits);
    return {.all_clocks = wish.all || (clocks.empty() && power_limits.empty()),
            .clocks_mhz = wish.sm_clocks_mhz,
            .power_limits_w = wish.power_limits_w};
}

std::vector<Answered> recommendations(const Choice& choice, SessionSettings settings, const Session::Tell& tell) {
    check(choice);
    settings.most_devices = choice.question.devices.size();
    Session session(std::move(settings));
    EachOnce once(tell);
    for (const AnsweringDevice& device : load_devices(session, choice.question)) {
        once(device.loaded->database_note());
        once(device.short_note);
        once(device.loaded->issuer_note());
    }
    std::vector<Answered> phases, networks;
    for (std::size_t i = 0; i < choice.question.models.size(); ++i) {
        for (const Phase& phase : phases_of(choice.question.models[i], choice.question, once)) {
            phases.push_back(answered(phase, session, choice, once));
            phases.back().network = i;
            if (phase.is_named) networks.push_back(phases.back());
        }
    }
    if (!choice.weights.empty()) phases.insert(phases.begin(), of_mix(networks, choice, once));
    return phases;
}

std::string unknown_note(const Answered& answered) {
    if (answered.unknown_operations.empty()) return "";
    return answered.model + ": " + unknown_words(answered.unknown_operations, answered.method) +
           " its times are lower bounds";
}

}  // namespace joulecast::cli
