#include "joulecast/model/jcp_family_model.h"

#include <cstdint>

#include "joulecast/model/forest_bytes.h"
#include "joulecast/model/jcp_model.h"
#include "joulecast/model/jcp_parts.h"

namespace joulecast {
namespace {

/// One part; in version 1 it was a base and a forest.
ModelPart take_part(ByteReader& in, std::size_t columns, std::uint32_t version) {
    ModelPart part;
    const auto base = in.number<std::uint8_t>();
    if (base > static_cast<std::uint8_t>(Base::dynamic_watt)) in.fail("a model has an unknown base");
    part.base = static_cast<Base>(base);
    if (version == 1) {
        part.model = take_forest(in, columns);
        return part;
    }
    part.low = take_finite(in);
    part.high = take_finite(in);
    if (part.low > part.high) in.fail("a model has bounds the wrong way round");
    part.model = take_model(in, columns);
    return part;
}

/// Since version 3.
Reading take_reading(ByteReader& in) {
    const auto middle = in.number<std::uint8_t>();
    const auto weights = in.number<std::uint8_t>();
    if (middle > static_cast<std::uint8_t>(Middle::midmean)) in.fail("a model takes an unknown middle of its trees");
    if (weights > static_cast<std::uint8_t>(PartWeights::by_work)) in.fail("a model has unknown weights of its parts");
    return {static_cast<Middle>(middle), static_cast<PartWeights>(weights)};
}

}  // namespace

void put(ByteWriter& out, const FamilyModel& model) {
    out.text(name(model.family));
    out.text(name(model.metric));
    out.text(name(model.learner));
    out.signed_number(model.rows);
    out.real(model.score_90);
    put(out, model.targets);
    put(out, model.ranges);
    out.number(static_cast<std::uint8_t>(model.reading.middle));
    out.number(static_cast<std::uint8_t>(model.reading.weights));
    out.number(static_cast<std::uint32_t>(model.parts.size()));
    for (const ModelPart& part : model.parts) {
        out.number(static_cast<std::uint8_t>(part.base));
        out.real(part.low);
        out.real(part.high);
        put(out, part.model);
    }
}

FamilyModel take_family_model(ByteReader& in, std::size_t columns, std::uint32_t version) {
    FamilyModel model;
    model.family = take_name(in, parse_family, "family");
    model.metric = take_name(in, parse_metric, "metric");
    model.learner = take_name(in, parse_learner, "learner");
    model.rows = in.signed_number();
    model.score_90 = take_finite(in);
    model.targets = take_texts(in);
    model.ranges = take_ranges(in, columns, "a model has other columns than the feature list");
    if (version >= 3) model.reading = take_reading(in);
    const std::size_t parts = in.count(9);
    if (parts == 0) in.fail("a model has no part");
    for (std::size_t i = 0; i < parts; ++i) model.parts.push_back(take_part(in, columns, version));
    return model;
}

}  // namespace joulecast
