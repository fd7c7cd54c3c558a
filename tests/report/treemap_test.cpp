#include "joulecast/report/treemap.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "joulecast/report/figure_text.h"

namespace joulecast {
namespace {

TEST(Treemap, TilesHangBelowTheirParentsWithTheirOwnAreas) {
    const Treemap treemap{"t", "", {{"/", "", "net", "net", 0, 0}, {"/a|relu", "/", "relu", "relu, 1 ms", 0.001, 5}}};
    const auto json = nlohmann::json::parse(to_figure_json(treemap));
    const auto& trace = json.at("data").at(0);
    EXPECT_EQ(trace.at("type"), "treemap");
    EXPECT_EQ(trace.at("parents"), nlohmann::json::parse(R"(["", "/"])"));
    EXPECT_EQ(trace.at("values"), nlohmann::json::parse("[0.0, 0.001]"));
    // A parent's area is the sum of its children's beside its own, which is none.
    EXPECT_EQ(trace.at("branchvalues"), "remainder");
    EXPECT_EQ(trace.at("marker").at("colors").at(1), palette_colours[4]);
    // The page puts its own colours where groups are, and letters are black or white on those of the palette.
    EXPECT_EQ(trace.at("marker").at("colors").at(0), "branch");
    EXPECT_EQ(trace.at("textfont").at("color"), nlohmann::json::parse(R"(["ink", "#000000"])"));
}

TEST(Treemap, NamesAreText) {
    const Treemap treemap{"t", "", {{"/", "", "<b>&", "</script>", 1, 1}}};
    const std::string text = to_figure_json(treemap);
    EXPECT_EQ(text.find('<'), std::string::npos);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json.at("data").at(0).at("labels").at(0), "&lt;b&gt;&amp;");
    EXPECT_EQ(json.at("data").at(0).at("hovertext").at(0), "&lt;/script&gt;");
}

}  // namespace
}  // namespace joulecast
