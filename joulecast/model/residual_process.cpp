#include "joulecast/model/residual_process.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <Eigen/Cholesky>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Lengths of log2 m, n, k, of log2 batch, of waves and of the tail: by marginal likelihood on NeuSight's left-out
/// GPUs.
constexpr double size_length = 3.8;
constexpr double batch_length = 7.9;
constexpr double wave_length = 3.1;
constexpr double tail_length = 0.5;
constexpr double alignment_length = 1;
constexpr double backward_length = 1;
constexpr double most_waves = 7;
constexpr double tile = 128;
/// Of log(measured / told) where no model tells a call. An H200's operations left out by size, with 200 others to
/// adjust to: 27.7 % off without these, 25.2 % with 0.5, 0.1 and 0.1, 24.8 with 0.3, 0.3 and 0.1, 26.2 with nothing
/// smooth.
constexpr double analytic_kind_variance = 0.4;
constexpr double analytic_smooth_variance = 0.2;
constexpr double analytic_noise_variance = 0.1;
/// Of the t distribution that measured errors are taken to come from.
constexpr double error_degrees = 4;

double octaves(double size) {
    return size > 0 ? std::log2(size) : 0;
}

/// 0 for whole cache lines of 128 bytes in float32, 1 for whole vector loads of 16, else 2.
double misalignment(double size) {
    if (std::fmod(size, 32) == 0) return 0;
    return std::fmod(size, 4) == 0 ? 1 : 2;
}

double square(double x) {
    return x * x;
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The whole matrix whose lower triangle is the factor.
Eigen::Map<const Matrix> matrix_of(const std::vector<double>& factor, std::size_t n) {
    const auto size = static_cast<Eigen::Index>(n);
    return {factor.data(), size, size};
}

Eigen::Map<const Eigen::VectorXd> vector_of(std::span<const double> values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

ResidualPlace residual_place(const Dimensions& d, NumberWidth width, const Device& device) {
    ResidualPlace place;
    place.family = d.family;
    place.width = width;
    const bool has_backward = d.backward.bytes_read + d.backward.bytes_written > 0;
    place.at.back() = has_backward ? 1 / backward_length : 0;
    if (!(d.gemm_m > 0)) {
        place.at[0] = octaves(d.elements_out) / size_length;
        place.at[1] = octaves(d.last) / size_length;
        place.at[6] = misalignment(d.last) / alignment_length;
        return place;
    }
    const double tiles = d.gemm_b * std::ceil(d.gemm_m / tile) * std::ceil(d.gemm_n / tile);
    const double at_once = static_cast<double>(std::max(1, device.units)) *
                           (device.fp32_lanes_per_unit > 0 ? device.fp32_lanes_per_unit / 64 : 1);
    const double waves = tiles / at_once;
    place.at[0] = octaves(d.gemm_m) / size_length;
    place.at[1] = octaves(d.gemm_n) / size_length;
    place.at[2] = octaves(d.gemm_k) / size_length;
    place.at[3] = octaves(d.gemm_b) / batch_length;
    place.at[4] = std::min(octaves(waves), most_waves) / wave_length;
    place.at[5] = octaves(std::ceil(waves) / waves) / tail_length;
    place.at[6] = std::max(misalignment(d.gemm_n), misalignment(d.gemm_k)) / alignment_length;
    return place;
}

std::size_t residual_kind(std::string_view target) {
    return std::hash<std::string_view>{}(plain_name(target));
}

double covariance(const ResidualPrior& prior, const ResidualPlace& a, const ResidualPlace& b) {
    double sum = square(prior.common);
    if (multiplies_matrices(a.family) == multiplies_matrices(b.family))
        sum += square(multiplies_matrices(a.family) ? prior.compute : prior.memory);
    if (a.family != b.family) return sum;
    sum += square(prior.of_family);
    if (a.analytic_kind.has_value() != b.analytic_kind.has_value()) return sum;
    if (a.analytic_kind && a.analytic_kind == b.analytic_kind) sum += analytic_kind_variance;
    if (a.width != b.width) return sum;
    double distance = 0;
    for (std::size_t i = 0; i < a.at.size(); ++i) distance += square(a.at[i] - b.at[i]);
    return sum + prior.smooth_variance(a) * std::exp(-distance / 2);
}

double ResidualPrior::smooth_variance(const ResidualPlace& place) const {
    return place.analytic_kind ? analytic_smooth_variance : noise_variance(place);
}

double ResidualPrior::noise_variance(const ResidualPlace& place) const {
    if (place.analytic_kind) return analytic_noise_variance;
    double deviation = 0;
    for (const FamilySpread& known : within_family) {
        if (known.family != place.family) continue;
        deviation = known.width == place.width ? known.deviation : std::max(deviation, known.deviation);
        if (known.width == place.width) break;
    }
    constexpr double least_variance = 1e-8;  // measurements of one place must not contradict each other exactly
    return std::max(least_variance, square(deviation > 0 ? deviation : within) / 2);
}

ResidualProcess::ResidualProcess(ResidualPrior prior) : prior_(std::move(prior)) {
    set_quantile();
}

void ResidualProcess::set_quantile() {
    const double degrees = std::max(1.0, prior_.devices - 1 + static_cast<double>(places_.size()));
    quantile_ = student_t_quantile(0.95, degrees);
}

void ResidualProcess::condition(std::span<const ResidualPlace> places, std::span<const double> errors) {
    if (places.size() != errors.size()) throw Error("as many errors as places are needed");
    if (places.size() > most_measured)
        throw Error("more than " + std::to_string(most_measured) + " operations to adjust a model to");
    if (!std::all_of(errors.begin(), errors.end(), [](double e) { return std::isfinite(e); }))
        throw Error("an error to adjust to is not finite");
    places_.assign(places.begin(), places.end());
    set_quantile();
    const std::size_t n = places_.size();
    std::vector<double> prior_covariance(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            prior_covariance[i * n + j] = prior_covariance[j * n + i] = covariance(prior_, places_[i], places_[j]);
        }
    }
    std::vector<double> noise;
    for (const ResidualPlace& place : places_) noise.push_back(prior_.noise_variance(place));
    std::vector<double> variance = noise;
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        Matrix whole = matrix_of(prior_covariance, n);
        whole.diagonal() += vector_of(variance);
        const Eigen::LLT<Matrix> solver(whole);
        const Eigen::VectorXd weights = solver.solve(vector_of(errors));
        weights_.assign(weights.begin(), weights.end());
        factor_.assign(solver.matrixLLT().data(), solver.matrixLLT().data() + n * n);
        if (round + 1 == rounds) break;
        for (std::size_t i = 0; i < n; ++i) {
            const double off = weights_[i] * variance[i];  // error less the posterior mean there
            variance[i] = noise[i] * (error_degrees + square(off) / noise[i]) / (error_degrees + 1);
        }
    }
}

double ResidualProcess::mean_at(const ResidualPlace& place) const {
    return places_.empty() ? 0 : vector_of(to_measured(place)).dot(vector_of(weights_));
}

ResidualProcess::Belief ResidualProcess::at(const ResidualPlace& place) const {
    Belief belief;
    double variance = covariance(prior_, place, place);
    if (!places_.empty()) {
        const std::vector<double> known = to_measured(place);
        belief.mean = vector_of(known).dot(vector_of(weights_));
        variance -= told_by_measured(known);
    }
    belief.deviation = std::sqrt(std::max(0.0, variance));
    return belief;
}

std::vector<double> ResidualProcess::to_measured(const ResidualPlace& place) const {
    std::vector<double> covariances;
    for (const ResidualPlace& measured : places_) covariances.push_back(covariance(prior_, place, measured));
    return covariances;
}

double ResidualProcess::told_by_measured(std::span<const double> covariances) const {
    const auto factor = matrix_of(factor_, places_.size()).triangularView<Eigen::Lower>();
    return factor.solve(vector_of(covariances)).squaredNorm();
}

double ResidualProcess::deviation_of_sum(std::span<const Part> parts) const {
    double variance = 0;
    double noise = 0;
    std::vector<double> known(places_.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& [place, share] = parts[i];
        variance += share * share * covariance(prior_, place, place);
        for (std::size_t j = 0; j < i; ++j)
            variance += 2 * share * parts[j].share * covariance(prior_, place, parts[j].place);
        noise += share * share * prior_.noise_variance(place);
        if (places_.empty()) continue;
        const std::vector<double> of_part = to_measured(place);
        for (std::size_t m = 0; m < known.size(); ++m) known[m] += share * of_part[m];
    }
    if (!places_.empty()) variance -= told_by_measured(known);
    const double in_common = quantile_ / normal_90 * std::sqrt(std::max(0.0, variance));
    return std::hypot(in_common, std::sqrt(noise));
}

double ResidualProcess::half_width_90(const Belief& belief, const ResidualPlace& place) const {
    return std::hypot(common_half_width_90(belief), normal_90 * std::sqrt(prior_.noise_variance(place)));
}

std::vector<std::size_t> most_telling(const ResidualPrior& prior, std::span<const ResidualPlace> candidates,
                                      std::span<const ResidualTarget> targets, std::size_t count) {
    std::vector<ResidualPlace> places(candidates.begin(), candidates.end());
    for (const ResidualTarget& target : targets) places.push_back(target.place);
    const std::size_t n = places.size();
    std::vector<double> now(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) now[i * n + j] = covariance(prior, places[i], places[j]);
    }
    std::vector<std::size_t> chosen;
    while (chosen.size() < std::min(count, candidates.size())) {
        std::size_t best = candidates.size();
        double most = -1;
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            if (std::find(chosen.begin(), chosen.end(), c) != chosen.end()) continue;
            double drop = 0;
            for (std::size_t t = candidates.size(); t < n; ++t)
                drop += targets[t - candidates.size()].weight * square(now[c * n + t]);
            drop /= now[c * n + c] + prior.noise_variance(places[c]);
            if (drop > most) {
                most = drop;
                best = c;
            }
        }
        chosen.push_back(best);
        const std::vector<double> row(now.begin() + static_cast<std::ptrdiff_t>(best * n),
                                      now.begin() + static_cast<std::ptrdiff_t>((best + 1) * n));
        const double variance = row[best] + prior.noise_variance(places[best]);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) now[i * n + j] -= row[i] * row[j] / variance;
        }
    }
    return chosen;
}

}  // namespace joulecast
