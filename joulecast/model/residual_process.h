#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/features/dimensions.h"

namespace joulecast {

/// Numbers whose kernels are alike: the errors of one width tell little of those of another. Float32 products in TF32
/// run on matrix units, as those of 16 bits do, and count as such.
enum class NumberWidth : std::uint8_t { bits8, bits16, bits32 };
inline constexpr std::array all_number_widths{NumberWidth::bits8, NumberWidth::bits16, NumberWidth::bits32};

/// Where an operation lies among others on one device: near ones are off by about the same.
struct ResidualPlace {
    Family family = Family::other;
    NumberWidth width = NumberWidth::bits32;  ///< of what it computes with
    /// In lengths over which errors change: log2 of m, n, k, batch of the matrix product, of its waves of 128 x 128
    /// tiles (7 at most), and of their tail; without a product, log2 of elements and of the innermost size. Then the
    /// alignment of the sizes in memory, n and k or the innermost: 0 for multiples of 32, 1 of 4, else 2; kernels for
    /// unaligned operands are others, and say little of those for aligned ones. Last 1 with a backward pass, else 0.
    std::array<double, 8> at{};
    /// residual_kind() of a call that no model tells. Those of one kind are off by much the same, of another by
    /// something else. Absent: a model tells it.
    std::optional<std::size_t> analytic_kind = {};
};

ResidualPlace residual_place(const Dimensions& dimensions, NumberWidth width, const Device& device);
/// A number for the name of a call, the same whether it is computed in place or not.
std::size_t residual_kind(std::string_view target);

/// Of an operation about its family on a device, as a standard deviation.
struct FamilySpread {
    Family family = Family::other;
    NumberWidth width = NumberWidth::bits32;
    double deviation = 0;

    friend bool operator==(const FamilySpread&, const FamilySpread&) = default;
};

/// How log errors spread that a model over devices makes on one device that it never saw: standard deviations, found on
/// devices left out.
struct ResidualPrior {
    double common = 0.11;     ///< of the device: all its operations are off by that together
    double compute = 0.06;    ///< of its matrix products, convolutions and attention together
    double memory = 0.06;     ///< of all others together
    double of_family = 0.05;  ///< of a family
    double within = 0.14;     ///< of an operation about its family on that device, of families not named below
    /// A width that is not named has the largest of its family.
    std::vector<FamilySpread> within_family;
    double devices = 5;  ///< they were found on: few, so that bands are those of Student's t

    /// Half of the variance within a family changes smoothly with the sizes, half is each operation's own. Of what no
    /// model tells most is of its kind; all three together make a factor of 4 either way.
    double smooth_variance(const ResidualPlace& place) const;
    double noise_variance(const ResidualPlace& place) const;

    friend bool operator==(const ResidualPrior&, const ResidualPrior&) = default;
};

/// A Gaussian process over the log errors of one device: the prior, and after some operations were measured there, the
/// posterior. Measurements that lie far off are trusted less, as under Student's t with 4 degrees of freedom.
class ResidualProcess {
  public:
    /// An operation's share in a sum of times.
    struct Part {
        ResidualPlace place;
        double share = 0;
    };

    static constexpr std::size_t most_measured = 1000;

    explicit ResidualProcess(ResidualPrior prior = {});

    /// `errors`: log(measured / forecast by the prior's model), one for each place. Goes over what was there before.
    /// Throws Error for sizes that differ, for errors that are not finite, and for more than most_measured of
    /// them.
    void condition(std::span<const ResidualPlace> places, std::span<const double> errors);

    struct Belief {
        double mean = 0;       ///< log error to expect
        double deviation = 0;  ///< standard deviation of that, the operation's own noise apart
    };
    Belief at(const ResidualPlace& place) const;
    /// The first of that alone, which is had with less work.
    double mean_at(const ResidualPlace& place) const;
    /// Half of the 90 % interval in log: Student's t for what is of the device, and the noise of one operation.
    double half_width_90(const Belief& belief, const ResidualPlace& place) const;
    /// The first part of that: what the operations of a network may have in common.
    double common_half_width_90(const Belief& belief) const { return quantile_ * belief.deviation; }

    /// Standard deviation that the 90 % interval of log(sum of times) stands for: what the parts have in common adds
    /// up, each one's own noise averages out.
    double deviation_of_sum(std::span<const Part> parts) const;

    const ResidualPrior& prior() const { return prior_; }
    std::size_t measured() const { return places_.size(); }

  private:
    void set_quantile();
    std::vector<double> to_measured(const ResidualPlace& place) const;
    /// What knowing the measured places takes off a variance.
    double told_by_measured(std::span<const double> covariances) const;

    ResidualPrior prior_;
    double quantile_ = 0;  ///< of Student's t, for 90 % in the middle
    std::vector<ResidualPlace> places_;
    std::vector<double> weights_;  ///< K^-1 errors
    std::vector<double> factor_;   ///< its lower triangle is K's Cholesky factor, row after row
};

/// Prior covariance of two places' errors, noise apart.
double covariance(const ResidualPrior& prior, const ResidualPlace& a, const ResidualPlace& b);

/// An operation that is to be forecast.
struct ResidualTarget {
    ResidualPlace place;
    double weight = 1;
};

/// Which of the candidates to measure: greedily those that take most off the weighted sum of the targets' variances.
/// Needs no measurement. At most `count` indices, in order of their worth.
std::vector<std::size_t> most_telling(const ResidualPrior& prior, std::span<const ResidualPlace> candidates,
                                      std::span<const ResidualTarget> targets, std::size_t count);

}  // namespace joulecast
