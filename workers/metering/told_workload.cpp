#include "workers/metering/told_workload.h"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "joulecast/error.h"
#include "joulecast/measure/recipe.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast::metering {

namespace {

constexpr int round_trips = 10;

}  // namespace

ToldWorkload::ToldWorkload(std::istream& in, std::ostream& out, std::int64_t multiple)
    : in_(in), out_(out), multiple_(std::max<std::int64_t>(1, multiple)) {}

double ToldWorkload::ask(std::int64_t calls) {
    out_ << nlohmann::json{{"run", calls}}.dump() << '\n' << std::flush;
    std::string line;
    if (!std::getline(in_, line)) throw Error("whoever makes the calls is gone");
    const auto told = parse_bounded_or_null(line, limits_of_settings);
    if (!told.is_object() || !told.value("ran_s", nlohmann::json()).is_number())
        throw Error("no time of calls in \"" + line.substr(0, 80) + "\"");
    const double ran_s = told["ran_s"].get<double>();
    return std::isfinite(ran_s) && ran_s >= 0.0 ? ran_s : 0.0;
}

void ToldWorkload::run(std::int64_t calls, bool /*hot*/) {
    SteadyClock clock;
    const double start_s = clock.now_s();
    const double ran_s = ask(calls);
    const double waited_s = clock.now_s() - start_s;
    waited_s_ += waited_s;
    calls_s_ += std::min(ran_s, waited_s);
}

double ToldWorkload::round_trip_s() {
    SteadyClock clock;
    double shortest_s = std::numeric_limits<double>::infinity();
    for (int i = 0; i < round_trips; ++i) {
        const double start_s = clock.now_s();
        ask(0);
        shortest_s = std::min(shortest_s, clock.now_s() - start_s);
    }
    return shortest_s;
}

double ToldWorkload::share_of_calls() const {
    return waited_s_ > 0.0 ? calls_s_ / waited_s_ : 1.0;
}

}  // namespace joulecast::metering
