#include "joulecast/profile/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <tuple>

#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/profile/first_pass.h"

namespace joulecast {
namespace {

/// What measuring an operation takes before the database knows better: warm-up and timing, rotating and hot
/// (docs/method.md).
constexpr double default_operation_cost_s = 0.5;
/// The papers' own protocols (docs/method.md): blocks of instances for a least run time.
constexpr double default_paper_cost_s = 25;
/// A network is built, warmed up and timed: at least so long, and so many passes.
constexpr double least_network_cost_s = 1.0;
/// With its energy, for which most wait for ten ticks of a meter: 38 networks in 120 s on an H200, 36 in 100 s on an
/// H100.
constexpr double least_network_cost_on_gpu_s = 2.5;
constexpr double network_passes = 10;
/// Stands in where the data sheet has no figures: only the order of operations depends on it.
constexpr double usual_flop_per_s = 1e11;
constexpr double usual_bytes_per_s = 1e10;
constexpr double usual_call_s = 5e-6;

double rough_seconds(const Operation& operation, const Device& device) {
    const auto inputs = tensors(operation);
    const double peak = peak_flop_per_s(device, inputs.empty() ? Dtype::f32 : inputs.front()->dtype);
    const Counts counts = total_counts(operation);
    const double flop = static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
    const double bytes = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written);
    const double bandwidth = device.bandwidth_bytes_per_s;
    return usual_call_s + std::max(flop / (peak > 0 ? peak : usual_flop_per_s),
                                   bytes / (bandwidth > 0 ? bandwidth : usual_bytes_per_s));
}

/// FNV-1a: the same on every machine, so that shards fit together.
std::uint64_t stable_hash(std::string_view text) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return hash;
}

bool in_shard(std::string_view text, const PlanSettings& settings) {
    return stable_hash(text) % static_cast<std::uint64_t>(settings.shards) ==
           static_cast<std::uint64_t>(settings.shard - 1);
}

std::string text_of(const NetworkMeasurement& network) {
    return with_values(network.model + " " + std::string(name(network.mode)) + " " + network.precision, network.symbols,
                       " ");
}

/// Fisher and Yates; std::shuffle differs between standard libraries.
template <class Item>
void shuffle(std::vector<Item>& items, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random() % left]);
}

/// The budgets, and what is taken out of them.
class Purse {
  public:
    explicit Purse(const PlanSettings& settings)
        : sweep_s_(settings.budget_s), whole_s_(settings.whole_budget_s), planned_s_(settings.overhead_s) {}

    /// Measured before: takes from the whole plan's budget only.
    void spent(double cost_s) { measured_s_ += cost_s; }

    bool is_finished() const { return whole_s_ && measured_s_ >= 0.9 * *whole_s_; }

    bool take(double cost_s, double part) {
        const bool fits = (!sweep_s_ || planned_s_ + cost_s <= part * *sweep_s_) &&
                          (!whole_s_ || planned_s_ + measured_s_ + cost_s <= part * *whole_s_);
        if (is_finished() || !fits) return false;
        planned_s_ += cost_s;
        return true;
    }

    /// Not taken yet; absent without a budget.
    std::optional<double> left_s() const {
        const auto limit = limit_s();
        if (!limit) return {};
        return std::max(0.0, *limit - planned_s_);
    }

    std::optional<double> limit_s() const {
        if (!whole_s_) return sweep_s_;
        const double left_s = std::max(0.0, *whole_s_ - measured_s_);
        return sweep_s_ ? std::min(*sweep_s_, left_s) : left_s;
    }

  private:
    std::optional<double> sweep_s_, whole_s_;
    double measured_s_ = 0;
    double planned_s_;
};

template <class Planned>
struct Wanted {
    Planned planned;
    bool measured = false;
    std::int64_t place = 0;  ///< of first appearance
};

OperatingPoint at(OperatingPoint point, const ClockSetting& clocks) {
    point.sm_clock_mhz = clocks.sm_clock_mhz;
    point.memory_clock_mhz = clocks.memory_clock_mhz;
    point.power_limit_w = clocks.power_limit_w;
    return point;
}

/// fp32 and tf32 differ by how the device multiplies alone.
OperatingPoint point_at(const PlanSettings& settings, Math math) {
    OperatingPoint point = settings.point;
    if (math != Math::ieee) point.math = math;
    return point;
}

/// Every network of the request once at each setting of the clocks, with its cost.
std::vector<Wanted<PlannedNetwork>> wanted_networks(const std::vector<Variation>& variations, const Dataset* dataset,
                                                    const PlanSettings& settings) {
    std::vector<Wanted<PlannedNetwork>> wanted;
    std::set<std::string> seen;
    const double least_cost_s =
        settings.device.kind == Device::Kind::gpu ? least_network_cost_on_gpu_s : least_network_cost_s;
    for (const Variation& variation : variations) {
        PlannedNetwork planned{
            variation, point_at(settings, math_of(precision_named(variation.precision))), Optimizer::none, 0, 0, 0};
        if (variation.mode == Mode::training) planned.optimizer = settings.optimizer;
        const std::string text = text_of(describe(planned));
        if (!variation.network || !in_shard(text, settings) || !seen.insert(text).second) continue;
        for (const Node& node : variation.graph.nodes)
            if (is_measurable(node.operation)) planned.call_s += rough_seconds(node.operation, settings.device);
        planned.cost_s = least_cost_s + network_passes * planned.call_s;
        for (planned.stage = 0; planned.stage < settings.clocks.size(); ++planned.stage) {
            planned.point = at(planned.point, settings.clocks[planned.stage]);
            const bool measured = dataset != nullptr && dataset->contains(describe(planned), settings.method,
                                                                          settings.clocks[planned.stage].found);
            wanted.push_back({planned, measured, std::ssize(wanted)});
        }
    }
    return wanted;
}

/// As the key of a measurement tells points apart.
bool is_same_point(const OperatingPoint& a, const OperatingPoint& b) {
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return a.math == b.math && a.host == b.host && a.threads == b.threads && same(a.sm_clock_mhz, b.sm_clock_mhz) &&
           same(a.memory_clock_mhz, b.memory_clock_mhz) && same(a.power_limit_w, b.power_limit_w);
}

double usual_cost_s(const Dataset* dataset, const PlanSettings& settings) {
    const auto known =
        dataset == nullptr ? std::nullopt : dataset->mean_operation_wall_s(settings.device.id, settings.method);
    return known.value_or(settings.method == Method::joulecast ? default_operation_cost_s : default_paper_cost_s);
}

/// Operations wanted once each, as often as they are named.
class Wishes {
  public:
    explicit Wishes(const PlanSettings& settings) : settings_(settings) {}

    /// For whoever names it first; `calls` of all that name it add up to its share.
    void add(const Operation& operation, Math math, Purpose purpose, std::int64_t calls) {
        const std::string text = signature(operation);
        if (!in_shard(text, settings_)) return;
        const OperatingPoint point = point_at(settings_, math);
        const auto [found, is_new] = place_.emplace(std::pair(text, point.math), wanted_.size());
        const double call_s = rough_seconds(operation, settings_.device);
        if (is_new)
            wanted_.push_back({{operation, point, 0, call_s, 0, 0, purpose, 0, false}, false, std::ssize(wanted_)});
        wanted_[found->second].planned.calls += static_cast<double>(calls);
        wanted_[found->second].planned.share_s += static_cast<double>(calls) * call_s;
    }

    std::vector<Wanted<PlannedOperation>> take() { return std::move(wanted_); }

  private:
    const PlanSettings& settings_;
    std::vector<Wanted<PlannedOperation>> wanted_;
    std::map<std::pair<std::string, Math>, std::size_t> place_;
};

/// Unique measurable operations of the variations, the probe and augmentation.
std::vector<Wanted<PlannedOperation>> named_operations(const std::vector<Variation>& variations,
                                                       const PlanSettings& settings) {
    Wishes wishes(settings);
    for (const auto& [operation, math] : settings.named) wishes.add(operation, math, Purpose::named, 0);
    for (const Variation& variation : variations) {
        if (!variation.operations) continue;
        const Math math = math_of(precision_named(variation.precision));
        for (const CountedOperation& counted : count_operations(variation.graph))
            if (is_measurable(counted.operation)) wishes.add(counted.operation, math, Purpose::network, counted.count);
    }
    for (const auto& [operation, math] : settings.probe) wishes.add(operation, math, Purpose::probe, 0);
    for (const auto& [operation, math] : settings.augmentation) wishes.add(operation, math, Purpose::augmentation, 0);
    return wishes.take();
}

void sort_by_what_matters(std::vector<Wanted<PlannedOperation>>& wanted) {
    std::ranges::sort(wanted, [](const auto& a, const auto& b) {
        if (matters_more(a.planned, b.planned) != matters_more(b.planned, a.planned))
            return matters_more(a.planned, b.planned);
        return a.place < b.place;  // keeps the order of equals, whatever the library
    });
}

/// What a learner has never seen it can hardly forecast.
void mark_first_of_kind(std::vector<Wanted<PlannedOperation>>& sorted) {
    std::set<std::pair<std::string, Family>> seen;
    for (auto& operation : sorted) {
        PlannedOperation& planned = operation.planned;
        if (planned.purpose != Purpose::network) continue;
        planned.first_of_kind = seen.emplace(planned.operation.target, family(planned.operation)).second;
    }
}

/// All wanted operations, what matters most first, each at every setting of the clocks.
std::vector<Wanted<PlannedOperation>> wanted_operations(const std::vector<Variation>& variations,
                                                        const Dataset* dataset, const PlanSettings& settings) {
    auto wanted = named_operations(variations, settings);
    const double cost_s = usual_cost_s(dataset, settings);
    for (auto& operation : wanted) operation.planned.cost_s = cost_s;
    sort_by_what_matters(wanted);
    mark_first_of_kind(wanted);
    sort_by_what_matters(wanted);
    std::vector<Wanted<PlannedOperation>> staged;
    for (auto& operation : wanted)
        for (std::size_t stage = 0; stage < settings.clocks.size(); ++stage) {
            operation.planned.stage = stage;
            operation.planned.point = at(operation.planned.point, settings.clocks[stage]);
            operation.measured =
                dataset != nullptr && dataset->contains(key_of(operation.planned.operation, operation.planned.point,
                                                               settings.method, settings.clocks[stage].found));
            staged.push_back(operation);
        }
    return staged;
}

/// Moves what fits into the purse into the plan; returns whether it is measured or planned now.
template <class Planned>
bool choose(Plan& plan, std::vector<Planned>& chosen, Wanted<Planned>& candidate, Purse& purse, double part) {
    ++plan.wanted;
    if (candidate.measured) {
        ++plan.measured;
        return true;
    }
    if (!purse.take(candidate.planned.cost_s, part)) {
        ++plan.left_out;
        return false;
    }
    plan.cost_s += candidate.planned.cost_s;
    chosen.push_back(std::move(candidate.planned));
    return true;
}

/// With a budget that the recipe as it is would exceed, each missing operation gets a part of what is left.
std::optional<double> plan_first_pass(std::vector<Wanted<PlannedOperation>>& operations, const Purse& purse,
                                      const PlanSettings& settings) {
    const auto left_s = purse.left_s();
    if (!left_s || settings.method != Method::joulecast || settings.energy_required) return {};
    const auto missing = std::ranges::count_if(operations, [](const auto& operation) { return !operation.measured; });
    if (missing == 0) return {};
    const auto time_s = first_pass_s(*left_s / static_cast<double>(missing));
    for (auto& operation : operations)
        if (time_s && !operation.measured) operation.planned.cost_s = first_pass_cost_s(*time_s, settings.device.kind);
    return time_s;
}

/// Those of the request that the database has from a first pass alone.
std::vector<RoughOperation> rough_operations(const std::vector<Wanted<PlannedOperation>>& operations,
                                             const Dataset* dataset, const PlanSettings& settings) {
    if (dataset == nullptr || settings.method != Method::joulecast) return {};
    std::map<std::string, bool> short_sessions;
    std::map<std::string, std::vector<OperationRow>> rows;
    for (OperationRow& row : dataset->operations(settings.device.id)) {
        if (!is_rough(row.measurement, settings.energy_wanted)) continue;
        const auto [found, is_new] = short_sessions.try_emplace(row.provenance.session, false);
        if (is_new) found->second = is_of_first_pass(row.provenance);
        if (found->second) rows[signature(row.measurement.operation)].push_back(std::move(row));
    }
    std::vector<RoughOperation> rough;
    for (const auto& operation : operations) {
        const auto found = operation.measured ? rows.find(signature(operation.planned.operation)) : rows.end();
        if (found == rows.end()) continue;
        for (const OperationRow& row : found->second)
            if (is_same_point(row.measurement.asked, operation.planned.point))
                rough.push_back({row.id, operation.planned, error_s(row.measurement, settings.energy_wanted)});
    }
    return rough;
}

}  // namespace

std::string_view name(Purpose purpose) {
    switch (purpose) {
        case Purpose::named:
            return "named";
        case Purpose::network:
            return "operation";
        case Purpose::probe:
            return "probe";
        case Purpose::augmentation:
            return "augmentation";
    }
    return "";
}

bool matters_more(const PlannedOperation& a, const PlannedOperation& b) {
    const auto rank = [](Purpose purpose) {
        constexpr std::array order{Purpose::augmentation, Purpose::network, Purpose::probe, Purpose::named};
        return std::ranges::find(order, purpose) - order.begin();
    };
    return std::tuple(rank(a.purpose), a.first_of_kind, a.share_s) >
           std::tuple(rank(b.purpose), b.first_of_kind, b.share_s);
}

double RoughOperation::weight_s() const {
    constexpr double of_no_network = 1e-6;  // these come last
    return std::max(planned.calls, of_no_network) * error_s;
}

double Plan::networks_cost_s(std::size_t first_stage) const {
    double sum = 0;
    for (const PlannedNetwork& network : networks)
        if (network.stage >= first_stage) sum += network.cost_s;
    return sum;
}

MeasurementKey key_of(const Operation& operation, const OperatingPoint& point, Method method,
                      const FoundClocks& found) {
    MeasurementKey key;
    key.device = point.device;
    key.operation = signature(operation);
    key.mode = mode(operation);
    key.sm_clock_mhz = point.sm_clock_mhz;
    key.memory_clock_mhz = point.memory_clock_mhz;
    key.power_limit_w = point.power_limit_w;
    key.math = point.math;
    key.engine = point.engine;
    key.host = point.host;
    key.threads = point.threads;
    key.method = name(method);
    key.found = found;
    return key;
}

NetworkMeasurement describe(const PlannedNetwork& planned) {
    const Variation& variation = planned.variation;
    NetworkMeasurement network;
    network.model = variation.model;
    network.symbols = variation.symbols;
    network.mode = variation.mode;
    network.precision = variation.precision;
    network.optimizer = planned.optimizer;
    network.asked = planned.point;
    network.real = planned.point;
    return network;
}

bool is_measurable(const Operation& operation) {
    // Names without a namespace are Python's (operator.getitem): nothing that the dispatcher could call.
    if (operation.target.find("::") == std::string::npos) return false;
    if (costs_nothing(family(operation))) return false;
    return find_record(operation.target) == nullptr || !(total_counts(operation) == Counts{});
}

Plan make_plan(const std::vector<Variation>& variations, const Dataset* dataset, const PlanSettings& settings) {
    if (settings.shards < 1 || settings.shard < 1 || settings.shard > settings.shards)
        throw UsageError("there is no shard " + std::to_string(settings.shard) + " of " +
                         std::to_string(settings.shards));
    if (settings.clocks.empty()) throw UsageError("there are no clocks to measure at");
    auto networks = wanted_networks(variations, dataset, settings);
    auto operations = wanted_operations(variations, dataset, settings);
    Purse purse(settings);
    for (const auto& network : networks)
        if (network.measured) purse.spent(network.planned.cost_s);
    for (const auto& operation : operations)
        if (operation.measured) purse.spent(operation.planned.cost_s);
    Plan plan;
    plan.engine = settings.point.engine;
    plan.stages = settings.clocks;
    plan.limit_s = purse.limit_s();
    // Half of the budget at most, where there are operations to measure, too.
    const bool is_shared = std::ranges::any_of(operations, [](const auto& wanted) { return !wanted.measured; });
    for (auto& network : networks) choose(plan, plan.networks, network, purse, is_shared ? 0.5 : 1);
    plan.first_pass_s = plan_first_pass(operations, purse, settings);
    plan.energy_wanted = settings.energy_wanted;
    if (!purse.is_finished()) plan.rough = rough_operations(operations, dataset, settings);
    double all_share = 0, covered = 0;
    for (auto& operation : operations) {
        const double share_s = operation.planned.share_s;
        all_share += share_s;
        if (choose(plan, plan.operations, operation, purse, 1.0)) covered += share_s;
    }
    plan.covered_share = all_share > 0 ? covered / all_share : 1;
    if (!plan.operations.empty() || !plan.networks.empty() || !plan.rough.empty()) plan.cost_s += settings.overhead_s;
    shuffle(plan.operations, settings.seed);
    std::ranges::stable_sort(plan.operations, {}, &PlannedOperation::stage);
    std::ranges::stable_sort(plan.networks, {}, &PlannedNetwork::stage);
    return plan;
}

}  // namespace joulecast
