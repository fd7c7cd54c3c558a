#include "joulecast/model/jcp_published.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/model/forest_bytes.h"
#include "joulecast/model/jcp_model.h"
#include "joulecast/model/jcp_parts.h"
#include "joulecast/model/published_method.h"

namespace joulecast {
namespace {

void put_regression(ByteWriter& out, const PublishedRegression& one) {
    if (one.ranges.size() > most_forest_columns)
        throw Error("cannot write the method's regression of " + one.key + ": it has " +
                    std::to_string(one.ranges.size()) + " columns, a predictor file holds at most " +
                    std::to_string(most_forest_columns) + ". Train on a database of fewer kinds of layers.");
    out.text(one.key);
    out.text(name(one.metric));
    out.text(name(one.learner));
    out.signed_number(one.rows);
    out.real(one.half_width);
    put(out, one.layers);
    put(out, one.ranges);
    put(out, one.model);
}

PublishedRegression take_regression(ByteReader& in, PublishedMethod method) {
    PublishedRegression one;
    one.key = in.text();
    one.metric = take_name(in, parse_metric, "metric");
    one.learner = take_name(in, parse_learner, "learner");
    one.rows = in.signed_number();
    one.half_width = take_finite(in);
    if (one.half_width < 0) in.fail("a regression has an interval that cannot be");
    one.layers = take_texts(in);
    if (!std::ranges::is_sorted(one.layers)) in.fail("a regression has layers that are not in order");
    // The program makes the rows that it is asked with.
    one.ranges =
        take_ranges(in, column_count(method, one.layers.size()), "a regression has other columns than its method");
    one.model = take_model(in, one.ranges.size());
    return one;
}

}  // namespace

void put_published(ByteWriter& out, const PublishedModel& model) {
    out.text(name(model.method));
    out.number(static_cast<std::uint32_t>(model.regressions.size()));
    for (const PublishedRegression& one : model.regressions) put_regression(out, one);
}

PublishedModel take_published(ByteReader& in) {
    PublishedModel model;
    model.method = take_name(in, parse_published_method, "published method");
    const std::size_t count = in.count(32);
    for (std::size_t i = 0; i < count; ++i) model.regressions.push_back(take_regression(in, model.method));
    return model;
}

}  // namespace joulecast
