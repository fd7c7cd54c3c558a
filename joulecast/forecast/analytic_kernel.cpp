#include "joulecast/forecast/analytic_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// Small kernels of an H100 and an H200 that do next to nothing took this share of the usual latency.
constexpr double least_share_of_latency = 0.3;

/// Rows of one tensor by the indices in another.
bool looks_up(const Operation& operation) {
    constexpr std::array<std::string_view, 3> lookups{"aten::embedding", "aten::gather", "aten::index_select"};
    return std::ranges::find(lookups, operation.target) != lookups.end();
}

/// Of calls that are one kernel and one more for the gradient: written, moved or looked up at once, an H100's and an
/// H200's take 1.1 to 2 us where they are small, and 0.65 to 1.1 where they read nothing. Others come to rest in
/// between (attention of a single token takes 4 to 7 us on A100 and B200).
double passes_of_kernel(const Operation& operation) {
    constexpr double of_creation = 0.5;
    const Family family = joulecast::family(operation);
    if (mode(operation) != Mode::inference) return 2;
    if (family == Family::creation) return of_creation;
    return family == Family::copy || family == Family::pooling || looks_up(operation) ? 1 : 2;
}

/// Rows that are looked up in a table move nearly as fast as others: 32,768 of 768 elements take an H200 1.09 times
/// (float32) and 1.12 times (bf16) what its memory sustains, fewer rows more, and single elements the most.
constexpr double of_rows = 1.2;

bool takes_rows(const Operation& operation) {
    const bool is_of_rows = operation.target == "aten::embedding" || operation.target == "aten::index_select";
    return is_of_rows && mode(operation) == Mode::inference;
}

}  // namespace

double unadjusted_analytic_s(const DeviceModel& device, const PreparedOperation& operation) {
    const bool is_of_rows = takes_rows(operation.operation);
    const Law* law = is_of_rows ? nullptr : find_law(device, operation.operation, operation.family());
    const double slowdown = is_of_rows ? of_rows : analytic_slowdown;
    const double work = law ? work_seconds(*law, operation.roofline) : slowdown * seconds(operation.roofline);
    const double least = passes_of_kernel(operation.operation) * device.device.kernel_latency_s;
    return std::max({work, least, least_eager_kernel_s(operation, device.device)});
}

ResidualPlace analytic_place(const DeviceModel& device, const PreparedOperation& operation) {
    ResidualPlace place = residual_place(operation, device.device);
    place.analytic_kind = residual_kind(operation.operation.target);
    return place;
}

bool is_told_analytically(const PreparedOperation& operation) {
    return find_record(operation.operation.target) && operation.family() != Family::view &&
           operation.family() != Family::symbolic;
}

AnalyticKernel analytic_kernel(const DeviceModel& device, const PreparedOperation& operation) {
    const double unadjusted = unadjusted_analytic_s(device, operation);
    const ResidualProcess& residual = device.unseen->residual;
    if (residual.measured() == 0) return {unadjusted, unadjusted};
    const ResidualPlace place = analytic_place(device, operation);
    const auto belief = residual.at(place);
    const double least = least_share_of_latency * device.device.kernel_latency_s;
    return {std::max(least, unadjusted * std::exp(belief.mean)), unadjusted, residual.half_width_90(belief, place)};
}

}  // namespace joulecast
