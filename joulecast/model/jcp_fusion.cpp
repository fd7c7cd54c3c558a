#include "joulecast/model/jcp_fusion.h"

#include <algorithm>
#include <functional>

#include "joulecast/model/jcp_parts.h"

namespace joulecast {
namespace {

/// One network is several times faster than its calls at most, and no call takes a hundred times as long in it.
constexpr double most_factor = 100;

std::int64_t take_networks(ByteReader& in) {
    const std::int64_t networks = in.signed_number();
    if (networks < 0) in.fail("its fusion was learnt from a negative number of networks");
    return networks;
}

}  // namespace

void put_fusion(ByteWriter& out, const FusionModel& fusion) {
    out.text(fusion.precision);
    out.text(fusion.framework);
    out.real(fusion.sigma);
    out.signed_number(fusion.networks);
    out.number(static_cast<std::uint32_t>(fusion.rules.size()));
    for (const FusionRule& rule : fusion.rules) {
        out.text(rule.key);
        out.number(static_cast<std::uint8_t>(rule.holds ? 1 : 0));
    }
    out.number(static_cast<std::uint32_t>(fusion.factors.size()));
    for (const FusionFactor& factor : fusion.factors) {
        out.text(factor.role);
        out.real(factor.factor);
        out.signed_number(factor.networks);
    }
}

FusionModel take_fusion(ByteReader& in) {
    FusionModel fusion;
    fusion.precision = in.text();
    fusion.framework = in.text();
    fusion.sigma = take_finite(in);
    if (fusion.sigma < 0) in.fail("its fusion has a negative error");
    fusion.networks = take_networks(in);
    fusion.rules.resize(in.count(5));
    for (FusionRule& rule : fusion.rules) {
        rule.key = in.text();
        const auto holds = in.number<std::uint8_t>();
        if (holds > 1) in.fail("a rule of fusion neither holds nor does not");
        rule.holds = holds == 1;
    }
    if (std::ranges::adjacent_find(fusion.rules, std::greater_equal{}, &FusionRule::key) != fusion.rules.end())
        in.fail("its rules of fusion are not sorted");
    fusion.factors.resize(in.count(20));
    for (FusionFactor& factor : fusion.factors) {
        factor.role = in.text();
        factor.factor = take_finite(in);
        if (factor.factor < 0 || factor.factor > most_factor) in.fail("a factor of fusion is out of range");
        factor.networks = take_networks(in);
    }
    if (std::ranges::adjacent_find(fusion.factors, std::greater_equal{}, &FusionFactor::role) != fusion.factors.end())
        in.fail("its factors of fusion are not sorted");
    return fusion;
}

}  // namespace joulecast
