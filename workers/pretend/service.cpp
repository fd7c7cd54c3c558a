#include "workers/pretend/service.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <random>

#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/units/time_stamp.h"
#include "workers/pretend/point.h"
#include "workers/pretend/random.h"
#include "workers/pretend/trial.h"

namespace joulecast::pretend {
namespace {

constexpr double trials_per_wave = 500;  // of the drift
constexpr double outlier_factor = 3;

std::uint64_t random_seed() {
    std::random_device random;
    return (std::uint64_t{random()} << 31U) ^ random();
}

std::string hexadecimal(std::uint64_t number) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

std::string text_of(const OperatingPoint& point) {
    return point.device + "|" + std::to_string(point.sm_clock_mhz) + "|" + std::to_string(point.memory_clock_mhz) +
           "|" + std::to_string(point.power_limit_w) + "|" + std::string(name(point.math)) + "|" +
           std::string(name(point.host)) + "|" + std::to_string(point.threads);
}

std::string text_of(const Graph& graph) {
    std::string text = graph.name + "|" + std::string(name(graph.mode));
    for (const auto& [symbol, range] : graph.symbols) text += "|" + symbol + "=" + std::to_string(range.value);
    return text;
}

[[noreturn]] void crash() {
    std::fputs("joulecast-pretend: this crash was asked for (--fail crash)\n", stderr);
    std::_Exit(86);
}

class Worker {
  public:
    explicit Worker(Options options) : options_(std::move(options)), seed_(options_.seed.value_or(random_seed())) {
        if (!options_.device.empty()) chosen_ = index_of(options_.device);
        started_ = utc_second_stamp(utc_now_s());
        session_ =
            hexadecimal(options_.seed ? hash_of(std::to_string(seed_) + std::to_string(::getpid()) + started_) : seed_);
    }

    protocol::Capabilities hello() const;
    protocol::Capabilities hello_of(const std::string& device) {
        chosen_ = index_of(device);
        return hello();
    }
    Measurement measure(const protocol::Measure& request) {
        return tried(request, signature(request.operation), measure_operation);
    }
    NetworkMeasurement measure(const protocol::MeasureGraph& request) {
        return tried(request, text_of(request.graph), measure_network);
    }
    protocol::TimedRuns time(const protocol::TimeRuns& request) {
        return time_runs(card(request.point.device), request, luck(signature(request.operation), request.point));
    }
    protocol::Prepared prepare(const protocol::Prepare& request) const {
        return prepare_point(card(request.point.device), request);
    }

  private:
    std::size_t index_of(const std::string& device) const;
    const Card& card(const std::string& device) const {
        return options_.cards[device.empty() ? chosen_ : index_of(device)];
    }

    /// The same for the same seed, operation, point and number of repeats.
    Luck luck(const std::string& what, const OperatingPoint& point) {
        const std::uint64_t subject = hash_of(what + "|" + text_of(point), hash_of(std::to_string(seed_)));
        const auto repeat = static_cast<std::uint64_t>(++repeats_[subject]);
        const double spread = options_.noise / std::numbers::sqrt2;
        const double wave = 2 * std::numbers::pi * (static_cast<double>(trials_) / trials_per_wave + uniform(seed_));
        Luck luck;
        luck.time =
            std::exp(spread * (normal(subject) + normal(subject + repeat))) * (1 + options_.drift * std::sin(wave));
        luck.power = std::exp(0.5 * spread * (normal(subject + 7777) + normal(subject + 7777 + repeat)));
        luck.noise = options_.noise;
        luck.seed = subject + repeat;
        return luck;
    }

    std::optional<Mishap> mishap(const std::string& what) const {
        for (const Demand& demand : options_.demands) {
            if (demand.every > 0 ? trials_ % demand.every == 0 : what.find(demand.word) != std::string::npos)
                return demand.mishap;
        }
        return std::nullopt;
    }

    template <class Request, class Measured>
    Measured tried(const Request& request, const std::string& what,
                   Measured (*answer)(const Card&, const Request&, const Luck&)) {
        ++trials_;
        const Card& on = card(request.point.device);
        Luck with = luck(what, request.point);
        const auto wrong = mishap(what);
        if (wrong == Mishap::crash) crash();
        while (wrong == Mishap::hang) ::pause();
        with.no_energy = wrong == Mishap::no_energy;
        with.thermal = wrong == Mishap::thermal;
        if (wrong == Mishap::outlier) with.time *= outlier_factor;
        Measured measured = answer(on, request, with);
        if (wrong) spoil(measured, *wrong);
        return measured;
    }

    template <class Measured>
    static void spoil(Measured& measured, Mishap wrong) {
        if (measured.outcome != Outcome::ok) return;
        const bool no_memory = wrong == Mishap::out_of_memory;
        if (no_memory || wrong == Mishap::unsupported) {
            measured.outcome = no_memory ? Outcome::out_of_memory : Outcome::unsupported;
            measured.message = "this was asked for (--fail)";
            measured.time = {};
            measured.block_s.clear();
            measured.energy.reset();
        } else if (wrong == Mishap::unstable) {
            measured.outcome = Outcome::unstable;
            measured.message = "the noise was asked for (--fail unstable)";
            measured.time.half_width_s = 0.2 * measured.time.mean_s;
            measured.time.converged = false;
        } else if (wrong == Mishap::impossible) {
            measured.peak_memory_bytes = -1;
            measured.time.half_width_s = -measured.time.mean_s;
        }
    }

    Options options_;
    std::uint64_t seed_;
    std::string session_;
    std::string started_;
    std::size_t chosen_ = 0;
    std::int64_t trials_ = 0;
    std::map<std::uint64_t, std::int64_t> repeats_;
};

std::size_t Worker::index_of(const std::string& device) const {
    std::string names;
    for (std::size_t i = 0; i < options_.cards.size(); ++i) {
        if (options_.cards[i].sheet.id == device) return i;
        names += (i == 0 ? "" : ", ") + options_.cards[i].sheet.id;
    }
    throw Error("cannot measure on " + device + ": this worker has only " + names);
}

protocol::Capabilities Worker::hello() const {
    const Card& on = options_.cards[chosen_];
    protocol::Capabilities capabilities;
    Provenance& who = capabilities.provenance;
    who.session = session_;
    who.started = started_;
    who.worker = "joulecast-pretend " JOULECAST_VERSION;
    who.framework = "pretended laws, no real hardware";
    who.machine = "pretended: seed " + (options_.seed ? std::to_string(seed_) : std::string("of the moment"));
    who.settings = protocol::settings_to_json({});
    capabilities.device = on.sheet;
    for (const Card& card : options_.cards) capabilities.device_names.push_back(card.sheet.id);
    capabilities.dtypes = on.dtypes();
    capabilities.modes = {Mode::inference, Mode::training};
    capabilities.measures_graphs = true;
    capabilities.measures_energy = true;
    capabilities.hosts = hosts_of(on);
    capabilities.locks_clocks = !on.sm_clocks_mhz.empty();
    if (!capabilities.locks_clocks) capabilities.clocks_missing_reason = "the pretended CPU sets its own clock";
    capabilities.sm_clocks_mhz = on.sm_clocks_mhz;
    capabilities.power_limit_low_w = on.power_limit_low_w;
    capabilities.power_limit_high_w = on.power_limit_high_w;
    return capabilities;
}

}  // namespace

protocol::Service service(Options options) {
    const auto worker = std::make_shared<Worker>(std::move(options));
    protocol::Service result;
    result.hello = [worker] { return worker->hello(); };
    result.hello_of = [worker](const std::string& device) { return worker->hello_of(device); };
    result.measure = [worker](const protocol::Measure& request) { return worker->measure(request); };
    result.measure_graph = [worker](const protocol::MeasureGraph& request) { return worker->measure(request); };
    result.prepare = [worker](const protocol::Prepare& request) { return worker->prepare(request); };
    result.time_runs = [worker](const protocol::TimeRuns& request) { return worker->time(request); };
    return result;
}

}  // namespace joulecast::pretend
