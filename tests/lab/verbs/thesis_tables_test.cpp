// Tables I and II of the thesis from its own measurements, which are not in this repository.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "cli/measured_rows.h"
#include "joulecast/evaluate/summed_networks.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

struct OfMode {
    int networks = 0;
    int with_half_of_their_calls = 0;
    double time_off = 0;  ///< sum of |log(summed / measured)| of those
    double energy_off = 0;
};

// None of the 26 training networks had half of its calls measured, and 13 of 18 of the others.
TEST(ThesisTables, HaveTheNetworksWhoseLayersWereMeasured) {
    const char* data = std::getenv("JOULECAST_DATA");
    const std::string folder = std::string(data == nullptr ? "" : data) + "/nicolai_a30/";
    if (!std::filesystem::exists(folder + "ops.csv")) GTEST_SKIP() << "JOULECAST_DATA is unset or has no nicolai_a30";
    const TemporaryFolder made;
    const auto ran =
        run_laboratory("import nicolai " + folder + "ops.csv " + folder + "networks.csv --db " + made.file("a30.db"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    ::setenv("JOULECAST_HOME", (std::string(JOULECAST_BINARY_DIR) + "/share/joulecast").c_str(), 1);
    const Dataset dataset(made.file("a30.db"), Dataset::Access::read_only);
    std::map<Mode, OfMode> modes;
    for (const cli::MeasuredRows& rows : cli::measured_rows(dataset, {})) {
        for (const SummedNetwork& network : summed_networks(rows.networks, rows.measured)) {
            OfMode& of = modes[network.measurement.mode];
            ++of.networks;
            if (network.measured_share() < 0.5) continue;
            ++of.with_half_of_their_calls;
            of.time_off += std::abs(std::log(network.summed_time_s.value / network.time_s.value));
            of.energy_off += std::abs(std::log(network.summed_energy_j.value / network.energy_j.value));
        }
    }
    const OfMode& inference = modes[Mode::inference];
    EXPECT_EQ(inference.networks, 18);
    EXPECT_EQ(inference.with_half_of_their_calls, 16);
    EXPECT_LT(inference.time_off / 16, 0.1);
    EXPECT_LT(inference.energy_off / 16, 0.1);
    // The others are transformers and ConvNeXt, most of whose calls no layer makes.
    const OfMode& training = modes[Mode::training];
    EXPECT_EQ(training.networks, 26);
    EXPECT_EQ(training.with_half_of_their_calls, 19);
    EXPECT_LT(training.energy_off / 19, 0.1);  // times of small networks are off further: layers are launch-bound
}

}  // namespace
}  // namespace joulecast::testing
