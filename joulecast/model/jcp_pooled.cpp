#include "joulecast/model/jcp_pooled.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "joulecast/model/jcp_parts.h"

namespace joulecast {
namespace {

constexpr std::uint8_t pool_version = 6;
constexpr std::uint8_t version_before_issuing = 5;   ///< no host's issuing was known
constexpr std::uint8_t version_before_widths = 4;    ///< all widths of a family spread alike
constexpr std::uint8_t version_before_hidden = 3;    ///< nothing of a launch was hidden
constexpr std::uint8_t version_before_families = 2;  ///< all families taken together in one way
constexpr std::uint8_t version_before_memory = 1;    ///< its rule went by power alone
constexpr double largest_log_factor = 50;

void put_prior(ByteWriter& out, const ResidualPrior& prior) {
    for (const double value : {prior.common, prior.compute, prior.memory, prior.of_family, prior.within, prior.devices})
        out.real(value);
    out.number(static_cast<std::uint32_t>(prior.within_family.size()));
    for (const FamilySpread& spread : prior.within_family) {
        out.text(name(spread.family));
        out.number(static_cast<std::uint8_t>(spread.width));
        out.real(spread.deviation);
    }
}

ResidualPrior take_prior(ByteReader& in, std::uint8_t version) {
    ResidualPrior prior;
    const auto take_deviation = [&in] {
        const double value = take_finite(in);
        if (value < 0) in.fail("a standard deviation is negative");
        return value;
    };
    for (double* value :
         {&prior.common, &prior.compute, &prior.memory, &prior.of_family, &prior.within, &prior.devices})
        *value = take_deviation();
    const std::size_t spreads = in.count(12);
    for (std::size_t i = 0; i < spreads; ++i) {
        FamilySpread spread{take_name(in, parse_family, "family")};
        if (version > version_before_widths) {
            const auto width = in.number<std::uint8_t>();
            if (width >= all_number_widths.size()) in.fail("numbers of a width that nobody knows");
            spread.width = all_number_widths[width];
        }
        spread.deviation = take_deviation();
        prior.within_family.push_back(spread);
    }
    return prior;
}

PooledLaw take_pooled_law(ByteReader& in) {
    PooledLaw law;
    law.key = in.text();
    law.launch_s = take_finite(in);
    if (law.launch_s < 0) in.fail("a launch takes a negative time");
    law.rows = in.signed_number();
    law.effects.resize(in.count(20));
    for (DeviceEffect& effect : law.effects) {
        effect.device = in.text();
        effect.release_year = in.real();  // NaN: not known
        effect.log_factor = take_finite(in);
        if (std::abs(effect.log_factor) > largest_log_factor) in.fail("a device is off by more than any can be");
    }
    return law;
}

FamilyCombinations take_combinations(ByteReader& in) {
    FamilyCombinations combinations;
    const std::size_t count = in.count(13);
    for (std::size_t i = 0; i < count; ++i) {
        const Family family = take_name(in, parse_family, "family");
        Combination combination;
        combination.year_scale = take_finite(in);
        if (combination.year_scale < 0) in.fail("its model over devices has a negative number");
        combination.by_median = in.number<std::uint8_t>() != 0;
        if (!combinations.try_emplace(family, combination).second) in.fail("a family is taken together in two ways");
    }
    return combinations;
}

}  // namespace

void put_pooled(ByteWriter& out, const PooledModel& pooled) {
    out.number(pool_version);
    out.number(static_cast<std::uint8_t>(pooled.kind == Device::Kind::gpu));
    out.text(name(pooled.point.math));
    put(out, pooled.devices);
    for (const double value : {pooled.sustained.watts_per_tflop, pooled.combination.year_scale, pooled.call_overhead_s})
        out.real(value);
    out.number(static_cast<std::uint8_t>(pooled.combination.by_median));
    out.number(static_cast<std::uint8_t>(pooled.sustained.by_memory));
    out.number(static_cast<std::uint8_t>(pooled.sustained.by_clock));
    out.number(static_cast<std::uint32_t>(pooled.combinations.size()));
    for (const auto& [family, combination] : pooled.combinations) {
        out.text(name(family));
        out.real(combination.year_scale);
        out.number(static_cast<std::uint8_t>(combination.by_median));
    }
    out.real(pooled.hidden_launch_s);
    out.real(pooled.issue_pace);
    out.signed_number(pooled.rows);
    put_prior(out, pooled.prior);
    out.number(static_cast<std::uint32_t>(pooled.laws.size()));
    for (const PooledLaw& law : pooled.laws) {
        out.text(law.key);
        out.real(law.launch_s);
        out.signed_number(law.rows);
        out.number(static_cast<std::uint32_t>(law.effects.size()));
        for (const DeviceEffect& effect : law.effects) {
            out.text(effect.device);
            out.real(effect.release_year);
            out.real(effect.log_factor);
        }
    }
}

PooledModel take_pooled(ByteReader& in) {
    const auto version = in.number<std::uint8_t>();
    if (version < version_before_memory || version > pool_version)
        in.fail("its model over devices has version " + std::to_string(version));
    PooledModel pooled;
    pooled.kind = in.number<std::uint8_t>() == 0 ? Device::Kind::cpu : Device::Kind::gpu;
    pooled.point.math = take_name(in, parse_math, "math");
    pooled.devices = take_texts(in);
    for (double* value : {&pooled.sustained.watts_per_tflop, &pooled.combination.year_scale, &pooled.call_overhead_s}) {
        *value = take_finite(in);
        if (*value < 0) in.fail("its model over devices has a negative number");
    }
    pooled.combination.by_median = in.number<std::uint8_t>() != 0;
    if (version != version_before_memory) {
        pooled.sustained.by_memory = in.number<std::uint8_t>() != 0;
        pooled.sustained.by_clock = in.number<std::uint8_t>() != 0;
    }
    if (version > version_before_families) pooled.combinations = take_combinations(in);
    if (version > version_before_hidden) pooled.hidden_launch_s = take_finite(in);
    if (pooled.hidden_launch_s < 0) in.fail("a negative part of a launch is hidden");
    if (version > version_before_issuing) pooled.issue_pace = take_finite(in);
    if (pooled.issue_pace < 0) in.fail("its hosts issue at a negative pace");
    pooled.rows = in.signed_number();
    pooled.prior = take_prior(in, version);
    const std::size_t laws = in.count(24);
    for (std::size_t i = 0; i < laws; ++i) pooled.laws.push_back(take_pooled_law(in));
    return pooled;
}

}  // namespace joulecast
