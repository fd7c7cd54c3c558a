#include "joulecast/model/jcp_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/model/forest_bytes.h"
#include "joulecast/model/jcp_parts.h"

namespace joulecast {
namespace {

/// In file order; memory_mhz, which may be unknown, stands behind them.
template <class AnyParameters>
auto numbers_of(AnyParameters& p) {
    return std::array{&p.highest_mhz, &p.lowest_mhz,   &p.step_mhz,     &p.knee,           &p.slope,
                      &p.still_w,     &p.clocked_w,    &p.memory_w,     &p.bandwidth_knee, &p.steady_share,
                      &p.spread.time, &p.spread.power, &p.spread.energy};
}

void put_if_grown(ByteWriter& out, const Forest& forest) {
    const bool is_grown = !forest.roots.empty();
    out.number(static_cast<std::uint8_t>(is_grown));
    if (is_grown) put(out, forest);
}

/// Trees that count must be there.
Forest take_if_grown(ByteReader& in, std::size_t columns, double weight) {
    if (in.number<std::uint8_t>() != 0) return take_forest(in, columns);
    if (weight > 0) in.fail("it has a weight over the clocks without trees");
    return {};
}

}  // namespace

void put_clocks(ByteWriter& out, const ClockParameters& parameters) {
    for (const double* number : numbers_of(parameters)) out.real(*number);
    out.real(parameters.memory_mhz);
    out.signed_number(parameters.workloads);
    out.number(static_cast<std::uint32_t>(parameters.idle.size()));
    for (const IdlePoint& point : parameters.idle) {
        for (const double number : {point.sm_clock_mhz, point.power_w, point.voltage_mv}) out.real(number);
    }
    out.real(parameters.bend);
}

ClockParameters take_clocks(ByteReader& in) {
    ClockParameters parameters;
    for (double* number : numbers_of(parameters)) {
        *number = in.real();
        if (!std::isfinite(*number) || *number < 0) in.fail("its clock model has a number that cannot be");
    }
    const bool has_range = parameters.highest_mhz > 0 && parameters.lowest_mhz > 0 &&
                           parameters.lowest_mhz <= parameters.highest_mhz && parameters.step_mhz > 0;
    if (!has_range || parameters.knee >= 1) in.fail("its clock model has a number that cannot be");
    parameters.memory_mhz = in.real();  // NaN: not known
    parameters.workloads = in.signed_number();
    parameters.idle.resize(in.count(24));
    double before = 0;
    for (IdlePoint& point : parameters.idle) {
        for (double* number : {&point.sm_clock_mhz, &point.power_w, &point.voltage_mv}) *number = in.real();
        const bool is_sound = point.sm_clock_mhz > before && point.power_w > 0 && !(point.voltage_mv <= 0);
        if (!is_sound) in.fail("its idle power over the clock is out of order");
        before = point.sm_clock_mhz;
    }
    if (in.at_end()) return parameters;  // before version 5
    parameters.bend = take_finite(in);
    if (!(parameters.bend > 0)) in.fail("its clock model has a number that cannot be");
    return parameters;
}

void put_residuals(ByteWriter& out, const std::vector<ClockResidual>& residuals) {
    out.number(static_cast<std::uint32_t>(residuals.size()));
    for (const ClockResidual& residual : residuals) {
        for (const double number : {residual.x, residual.y, residual.time, residual.power, residual.workloads})
            out.real(number);
    }
}

std::vector<ClockResidual> take_residuals(ByteReader& in) {
    std::vector<ClockResidual> residuals(in.count(40));
    for (ClockResidual& residual : residuals) {
        for (double* number : {&residual.x, &residual.y, &residual.time, &residual.power, &residual.workloads})
            *number = in.real();
        const bool is_sound = residual.x > 0 && residual.y > 0 && residual.workloads >= 0 &&
                              std::isfinite(residual.x) && std::isfinite(residual.y) &&
                              std::isfinite(residual.workloads) && std::isfinite(residual.time) &&
                              std::isfinite(residual.power);
        if (!is_sound) in.fail("its residuals over the clocks have a number that cannot be");
    }
    return residuals;
}

void put_learned(ByteWriter& out, const LearnedClocks& learned) {
    out.number(static_cast<std::uint32_t>(learned.members.size()));
    for (const LearnedMember& member : learned.members) {
        put(out, member.words);
        out.real(member.time_weight);
        out.real(member.power_weight);
        put_if_grown(out, member.time);
        put_if_grown(out, member.power);
    }
}

LearnedClocks take_learned(ByteReader& in) {
    LearnedClocks learned;
    learned.members.resize(in.count(22));  // no words, two weights, two bytes that say: no trees
    double time = 0;
    double power = 0;
    for (LearnedMember& member : learned.members) {
        member.words = take_texts(in);
        if (!std::ranges::is_sorted(member.words)) in.fail("its words of names are out of order");
        for (double* weight : {&member.time_weight, &member.power_weight}) {
            *weight = in.real();
            if (!(*weight >= 0 && *weight <= 1)) in.fail("its trees over the clocks have a weight that cannot be");
        }
        time += member.time_weight;
        power += member.power_weight;
        const std::size_t columns = learned_numbers + member.words.size();
        member.time = take_if_grown(in, columns, member.time_weight);
        member.power = take_if_grown(in, columns, member.power_weight);
    }
    if (time > 1 || power > 1) in.fail("its trees over the clocks weigh more than everything");
    return learned;
}

void put_over_clocks(ByteWriter& out, const OverClocks& over) {
    out.number(static_cast<std::uint32_t>(over.trained.size()));
    for (const TrainedClock& clock : over.trained) {
        out.real(clock.sm_clock_mhz);
        out.real(clock.memory_clock_mhz);
        out.signed_number(clock.rows);
    }
    const DynamicPower& power = over.dynamic;
    for (const double watts : {power.flop_w, power.byte_w, power.busy_w, power.active_w, power.on_w}) out.real(watts);
}

OverClocks take_over_clocks(ByteReader& in, std::uint32_t version) {
    OverClocks over;
    over.trained.resize(in.count(24));
    if (over.trained.size() < 2) in.fail("it is over clocks, but has fewer than two");
    const TrainedClock* before = nullptr;
    for (TrainedClock& clock : over.trained) {
        clock.sm_clock_mhz = in.real();
        clock.memory_clock_mhz = in.real();  // NaN: not told
        clock.rows = in.signed_number();
        if (!(clock.sm_clock_mhz > 0) || !std::isfinite(clock.sm_clock_mhz) || clock.memory_clock_mhz <= 0)
            in.fail("it has a trained clock that cannot be");
        const bool is_same_memory = before && !(before->memory_clock_mhz < clock.memory_clock_mhz);
        if (is_same_memory && clock.sm_clock_mhz <= before->sm_clock_mhz)
            in.fail("its trained clocks are out of order");
        before = &clock;
    }
    DynamicPower& power = over.dynamic;
    std::vector<double*> numbers{&power.flop_w, &power.byte_w, &power.busy_w};
    if (version >= 5) numbers.insert(numbers.end(), {&power.active_w, &power.on_w});
    for (double* watts : numbers) {
        *watts = in.real();
        if (!(*watts >= 0) || !std::isfinite(*watts)) in.fail("its power over the clocks has a number that cannot be");
    }
    return over;
}

void put_ratios(ByteWriter& out, const RatioSpread& spread) {
    for (const double sigma : {spread.time, spread.power, spread.energy}) out.real(sigma);
}

RatioSpread take_ratios(ByteReader& in) {
    RatioSpread spread;
    for (double* sigma : {&spread.time, &spread.power, &spread.energy}) {
        *sigma = in.real();
        if (!(*sigma > 0) || !std::isfinite(*sigma)) in.fail("its errors of ratios over the clocks cannot be");
    }
    return spread;
}

}  // namespace joulecast
