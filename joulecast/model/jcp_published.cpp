#include "joulecast/model/jcp_published.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/model/forest_bytes.h"
#include "joulecast/model/jcp_model.h"
#include "joulecast/model/jcp_parts.h"
#include "joulecast/model/published_method.h"

namespace joulecast {
namespace {

void put_regression(ByteWriter& out, const PublishedRegression& regression) {
    if (regression.ranges.size() > most_forest_columns)
        throw Error("cannot write the method's regression of " + regression.key + ": it has " +
                    std::to_string(regression.ranges.size()) + " columns, a predictor file holds at most " +
                    std::to_string(most_forest_columns) + ". Train on a database of fewer kinds of layers.");
    out.text(regression.key);
    out.text(name(regression.metric));
    out.text(name(regression.learner));
    out.signed_number(regression.rows);
    out.real(regression.half_width);
    put(out, regression.layers);
    put(out, regression.ranges);
    put(out, regression.model);
}

PublishedRegression take_regression(ByteReader& in, PublishedMethod method) {
    PublishedRegression regression;
    regression.key = in.text();
    regression.metric = take_name(in, parse_metric, "metric");
    regression.learner = take_name(in, parse_learner, "learner");
    regression.rows = in.signed_number();
    regression.half_width = take_finite(in);
    if (regression.half_width < 0) in.fail("a regression has an interval that cannot be");
    regression.layers = take_texts(in);
    if (!std::ranges::is_sorted(regression.layers)) in.fail("a regression has layers that are not in order");
    // The program makes the rows that it is asked with.
    regression.ranges = take_ranges(in, column_count(method, regression.layers.size()),
                                    "a regression has other columns than its method");
    regression.model = take_model(in, regression.ranges.size());
    return regression;
}

}  // namespace

void put_published(ByteWriter& out, const PublishedModel& model) {
    out.text(name(model.method));
    out.number(static_cast<std::uint32_t>(model.regressions.size()));
    for (const PublishedRegression& regression : model.regressions) put_regression(out, regression);
}

PublishedModel take_published(ByteReader& in) {
    PublishedModel model;
    model.method = take_name(in, parse_published_method, "published method");
    const std::size_t count = in.count(32);
    for (std::size_t i = 0; i < count; ++i) model.regressions.push_back(take_regression(in, model.method));
    return model;
}

}  // namespace joulecast
