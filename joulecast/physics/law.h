#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/graph/operation.h"
#include "joulecast/physics/roofline.h"
#include "joulecast/physics/tiles.h"

namespace joulecast {

/// Time of one kind of operation on one device: t = (h^8 + d^8)^(1/8), d = max(ef * flop_s, eb * byte_s).
/// A high power instead of a sum because issuing and computing overlap (found on the thesis' data).
struct Law {
    double floor_s = 0;      ///< h: what a call costs however small it is
    double flop_factor = 1;  ///< ef: times the data sheet's arithmetic time
    double byte_factor = 1;  ///< eb: times the data sheet's memory time
    Tiles tiles = {};        ///< arithmetic of products is in whole tiles and whole waves of them

    friend bool operator==(const Law&, const Law&) = default;
};

/// d: the part of the time that grows with the work.
double work_seconds(const Law& law, const Roofline& roofline);
double seconds(const Law& law, const Roofline& roofline);
/// d / (d + h): how much of a call is work; 0 where there is none.
double work_share(const Law& law, const Roofline& roofline);

/// (a^8 + b^8)^(1/8): two timelines of which the slower one decides.
double overlapped(double a, double b);
/// The other way round: the part that, overlapped with `floor`, gives `whole`; 0 where the floor explains all of it.
double beyond_floor(double whole, double floor);

struct LawSample {
    Roofline roofline;
    double time_s = 0;
};

/// Three numbers are settled by so many samples; of more, one out of each of this many equal parts is looked at.
inline constexpr std::size_t most_law_samples = 4096;

/// Nelder-Mead on mean |log(law / time)| + 0.003 (log^2 ef + log^2 eb), starting from h = the 10 % quantile of the
/// times. Throws Error for no samples or a time that is not positive.
Law fit_law(std::span<const LawSample> samples);
/// The same with arithmetic in those tiles that bring law and times nearest, where that is nearer by 7 % at least.
/// `usual_floor_s`: of other calls on the device; where all samples are long it is what small ones will take. 0: not
/// known.
Law fit_tiled_law(std::span<const LawSample> samples, double usual_floor_s = 0);

/// Operations under one name share a law: the target, depth-wise convolution and training-mode batch norm apart,
/// mode and computing type. "aten::conv2d/depthwise|inference|f32".
std::string law_key(const Operation& operation);
/// The coarser name that stands in where too few were measured: "convolution|inference|f32".
std::string family_law_key(const Operation& operation);
/// The same call, were it of that family.
std::string family_law_key(Family family, const Operation& operation);
/// Normalisation that takes its statistics from its input: it reads that twice.
bool takes_batch_statistics(const Operation& operation);
/// Whether a key is of the latter kind: targets have a namespace, families none.
bool is_family_law_key(std::string_view key);

/// "aten::mul" of "aten::mul_.Tensor": without the overload, and whether computed in place or not.
std::string_view plain_name(std::string_view target);

/// "aten::relu_" for "aten::relu" and the other way round, overloads kept: the same arithmetic in place or not.
std::string sibling_target(const std::string& target);

/// Convolution with as many groups as input channels, and more than one.
bool is_depthwise(const Operation& operation);
/// Whether a law_key() is that of such convolutions.
bool is_depthwise_law_key(std::string_view key);

}  // namespace joulecast
