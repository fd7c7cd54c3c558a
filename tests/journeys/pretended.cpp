// Steps of a user's way, on pretended cards.
#include "tests/journeys/pretended.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace joulecast::testing {

std::string on(const std::string& device, const std::string& options) {
    return " --device " + device + asking(options);
}

std::string asking(const std::string& options) {
    return " --worker \"exec '" PRETEND "' " + options + "\" ";
}

nlohmann::json profiled(const std::string& arguments) {
    // --seed: of the order, which decides which noise an operation meets.
    const Ran ran = run_joulecast("profile " + arguments + " --seed 1 --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto counts = nlohmann::json::parse(ran.out);
    EXPECT_EQ(counts.at("failed"), 0) << ran.err;
    EXPECT_EQ(counts.at("left"), 0) << ran.err;
    return counts;
}

std::string trained(const std::string& database, const std::string& predictor) {
    const Ran ran = run_joulecast("train --db " + database + " -o " + predictor);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.err;
}

Score scored(const std::string& predictor, const std::string& truth, const std::string& device) {
    const Ran ran = run_joulecast("validate --predictor " + predictor + " --db " + truth + " --format json" +
                                  (device.empty() ? "" : " --device " + device));
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    Score score;
    for (const auto& network : answer.at("networks")) {
        const double error = std::abs(network.at("error").get<double>());
        score.time += error;
        score.worst_time = std::max(score.worst_time, error);
        score.power += std::abs(network.at("power_error").get<double>());
        score.energy += std::abs(network.at("energy_error").get<double>());
        score.inside += network.at("inside_interval").get<bool>() ? 1 : 0;
        ++score.networks;
    }
    for (double* sum : {&score.time, &score.power, &score.energy, &score.inside}) *sum /= score.networks;
    std::cout << score << '\n';  // beside what a bound allows
    return score;
}

std::ostream& operator<<(std::ostream& out, const Score& score) {
    return out << score.networks << " networks: time " << score.time << " (worst " << score.worst_time << "), power "
               << score.power << ", energy " << score.energy << " off, inside " << score.inside;
}

}  // namespace joulecast::testing
