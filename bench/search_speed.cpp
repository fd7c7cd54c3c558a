// Operations per second of CPU time in a search, one thread: every network of the zoo at eight batches of its own,
// drawn again and again. usage: search_speed PREDICTOR.jcp VISITS Prints one line of JSON. A visit asks for the
// different operations of one network at one batch; graphs are re-shaped before the clock runs. A predictor of no
// device of its own forecasts one from its data sheet. "misses_per_s" is what forecasting without a cache does.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/learn/random.h"
#include "joulecast/model/jcp.h"
#include "joulecast/train/pooled.h"

namespace {

/// Seconds of this process on a core.
double seconds_since(std::clock_t start) {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

struct Visit {
    std::vector<joulecast::Operation> operations;
    std::int64_t calls = 0;
};

std::vector<Visit> visits_of_zoo() {
    const std::string zoo = JOULECAST_SOURCE_DIR "/zoo";
    joulecast::Random random(1);
    std::vector<Visit> visits;
    for (const std::string& name : joulecast::zoo_names(zoo)) {
        for (int i = 0; i < 8; ++i) {
            const auto batch = static_cast<std::int64_t>(1 + random.below(128));
            Visit& visit = visits.emplace_back();
            for (auto& counted : joulecast::count_operations(joulecast::open_model(name, zoo, {{"batch", batch}}))) {
                visit.calls += counted.count;
                visit.operations.push_back(std::move(counted.operation));
            }
        }
    }
    return visits;
}

constexpr const char* device_by_data_sheet = "h100-sxm";

joulecast::DeviceModel model_of(joulecast::Predictor predictor) {
    if (!predictor.devices.empty()) return std::move(predictor.devices.front());
    return joulecast::instantiate(std::move(predictor.pooled.at(0)), joulecast::find_device(device_by_data_sheet));
}

int run(const char* file, std::size_t wanted) {
    joulecast::Predictor predictor = joulecast::read_jcp(file);
    const auto columns = joulecast::columns(predictor);
    const joulecast::DeviceModel model = model_of(std::move(predictor));
    const joulecast::MeasuredOperations measured;
    joulecast::ForecastCache cache(model, columns, measured);
    const std::vector<Visit> visits = visits_of_zoo();

    joulecast::Random random(2);
    std::int64_t calls = 0;
    double seconds_of_network = 0;
    const std::clock_t start = std::clock();
    for (std::size_t i = 0; i < wanted; ++i) {
        const Visit& visit = visits[random.below(visits.size())];
        calls += visit.calls;
        for (const joulecast::Operation& operation : visit.operations)
            seconds_of_network += cache.forecast(operation).cost.device_time.value.value();
    }
    const double all = seconds_since(start);
    const auto asked = static_cast<double>(cache.hits() + cache.misses());
    const auto misses = static_cast<double>(cache.misses());

    // Once more with everything known, and then without a cache.
    const std::clock_t again = std::clock();
    double known = 0;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        for (const joulecast::Operation& operation : visits[i].operations)
            seconds_of_network += cache.forecast(operation).cost.device_time.value.value();
        known += static_cast<double>(visits[i].operations.size());
    }
    const double known_s = seconds_since(again);
    const std::clock_t bare = std::clock();
    double forecast = 0;
    for (std::size_t i = 0; i < visits.size() && seconds_since(bare) < 1; i += 7) {
        for (const joulecast::Operation& operation : visits[i].operations) {
            const auto prepared = joulecast::prepare(operation, model);
            seconds_of_network +=
                joulecast::forecast_operation(model, columns, prepared, measured).cost.device_time.value.value();
        }
        forecast += static_cast<double>(visits[i].operations.size());
    }
    const double bare_s = seconds_since(bare);
    std::printf(
        "{\"operations_per_s\":%.0f,\"calls_per_s\":%.0f,\"asked\":%.0f,\"miss_share\":%.4f,\"kept\":%zu,"
        "\"known_per_s\":%.0f,\"misses_per_s\":%.0f,\"sum_s\":%.3g}\n",
        asked / all, static_cast<double>(calls) / all, asked, misses / asked, cache.size(), known / known_s,
        forecast / bare_s, seconds_of_network);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: search_speed PREDICTOR.jcp VISITS\n", stderr);
        return 2;
    }
    try {
        return run(argv[1], std::stoul(argv[2]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "search_speed: %s\n", error.what());
        return 1;
    }
}
