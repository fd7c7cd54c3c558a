#include "joulecast/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string hostile = "</script><img src=x onerror=\"alert('1')\">&";

TEST(Escaped, NothingIsMarkupAndQuotesEndNoAttribute) {
    EXPECT_EQ(escaped("<a href=\"x\" id='y'>&"), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
    EXPECT_EQ(escaped("µs, 网"), "µs, 网");
}

TEST(Escaped, ControlCharactersAndBytesThatAreNoUtf8AreReplaced) {
    const std::string replaced = "\xef\xbf\xbd";
    EXPECT_EQ(escaped("a\x1b"
                      "b"),
              "a" + replaced + "b");
    EXPECT_EQ(escaped("\xff"), replaced);
    EXPECT_EQ(escaped("\xe2\x82"), replaced + replaced);                 // cut in the middle
    EXPECT_EQ(escaped("\xc0\xbc"), replaced + replaced);                 // "<" written overlong
    EXPECT_EQ(escaped("\xed\xa0\x80"), replaced + replaced + replaced);  // a surrogate
    EXPECT_EQ(escaped("two\nlines"), "two\nlines");
}

/// A page with hostile text in every place that takes text.
Page hostile_page() {
    Plot plot;
    plot.title = hostile;
    plot.subtitle = hostile;
    plot.x.title = hostile;
    plot.y.labels = {hostile};
    plot.series = {{hostile, PlotSeries::Style::lying_bars, {1}, {0}}};
    plot.series.front().texts = {hostile};
    plot.bands = {{hostile, 0, 1}};
    Treemap treemap;
    treemap.title = hostile;
    treemap.tiles = {{"/", "", hostile, hostile, 0, 0}, {hostile, "/", hostile, hostile, 1, 1}};
    Table table;
    table.heads = {{"name", hostile, Show::text}};
    table.rows = {{hostile}};
    Table two_columns = table;
    two_columns.heads.push_back({"below", hostile, Show::text});
    two_columns.rows = {{hostile, hostile}};
    Page page;
    page.asked = {{hostile, hostile}};
    page.commands = {hostile};
    page.title = page.summary = page.footer = hostile;
    page.chapters = {
        {hostile,
         {Heading{hostile}, Paragraph{hostile}, Paragraph{hostile, Paragraph::Kind::note}, TitledTable{hostile, table},
          drawn(plot, hostile), drawn(treemap, hostile), TitledTable{hostile, two_columns, {"below"}},
          SideBySide{{drawn(plot, hostile)}}, Folded{hostile, {Paragraph{hostile}, drawn(plot, hostile)}}}}};
    return page;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST(Page, NoTextInAnyPlaceBecomesMarkupOrEndsAScript) {
    const std::string page = to_html(hostile_page(), "/*plotly*/");
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    // Plotly's text and ours: each script begins and ends once.
    EXPECT_EQ(occurrences(page, "<script>"), 2U);
    EXPECT_EQ(occurrences(page, "</script>"), 2U);
}

TEST(Page, FetchesNothingAndSaysSoToTheBrowser) {
    const std::string page = to_html(hostile_page(), "/*plotly*/");
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    EXPECT_THAT(page, Not(HasSubstr("http:")));
    EXPECT_THAT(page, Not(HasSubstr("https:")));
    EXPECT_THAT(page, Not(HasSubstr(" src=\"")));
}

TEST(Page, HasAPlaceForEveryFigureAndNoLibraryWithoutFigures) {
    const std::string with = to_html(hostile_page(), "/*plotly*/");
    EXPECT_THAT(with, HasSubstr("id=\"figure0\""));
    EXPECT_THAT(with, HasSubstr("id=\"figure1\""));
    EXPECT_THAT(with, HasSubstr("/*plotly*/"));
    Page without;
    without.chapters = {{"words", {Paragraph{"only"}}}};
    EXPECT_THAT(to_html(without, "/*plotly*/"), Not(HasSubstr("<script>")));
}

TEST(Page, NumbersStandRightAndALongTableIsCutAndCounted) {
    Table table;
    table.heads = {{"time_s", "time", Show::seconds}};
    for (std::size_t i = 0; i < most_shown_rows + 3; ++i) table.rows.push_back({0.0123});
    Page page;
    page.chapters = {{"rows", {TitledTable{"", table}}}};
    const std::string html = to_html(page, "");
    EXPECT_THAT(html, HasSubstr("<td class=\"number\" data-head=\"time\">12.3 ms</td>"));
    EXPECT_EQ(occurrences(html, "12.3 ms"), most_shown_rows);
    EXPECT_THAT(html, HasSubstr("3 more rows are not shown"));
}

TEST(Page, RowsBehindTheFirstAreFolded) {
    Table table;
    table.heads = {{"time_s", "time", Show::seconds}};
    for (std::size_t i = 0; i < most_open_rows + 3; ++i) table.rows.push_back({0.0123});
    Page page;
    page.chapters = {{"rows", {TitledTable{"", table}}}};
    const std::string html = to_html(page, "");
    const std::string open = html.substr(0, html.find("<details>"));
    EXPECT_EQ(occurrences(open, "12.3 ms"), most_open_rows);
    EXPECT_THAT(html, HasSubstr("<summary>3 more rows</summary>"));
}

TEST(Page, LongTextsStandBelowTheirRow) {
    Table table;
    table.heads = {{"time_s", "time", Show::seconds}, {"call", "call", Show::text}, {"op", "operation", Show::text}};
    table.rows = {{0.0123, "aten::conv2d", "conv2d"}};
    Page page;
    page.chapters = {{"rows", {TitledTable{"", table, {"call"}}}}};
    const std::string html = to_html(page, "");
    EXPECT_THAT(html, Not(HasSubstr(">call</th>")));
    EXPECT_THAT(html, HasSubstr("<td colspan=\"2\">call: aten::conv2d</td>"));
    // On a narrow screen every cell says what it is.
    EXPECT_THAT(html, HasSubstr("data-head=\"operation\">conv2d</td>"));
}

TEST(Page, BeginsWithWhatWasAskedAndTheAnswer) {
    Page page;
    page.asked = {{"device", "NVIDIA A30"}};
    page.commands = {"joulecast report resnet50 --device a30"};
    page.summary = "first\nsecond";
    const std::string html = to_html(page, "");
    EXPECT_THAT(html, HasSubstr("<dt>device</dt><dd>NVIDIA A30</dd>"));
    EXPECT_THAT(html, HasSubstr("<code>joulecast report resnet50 --device a30</code>"));
    EXPECT_THAT(html, HasSubstr("<p class=\"summary\">first</p>\n<p class=\"summary\">second</p>"));
    EXPECT_LT(html.find("NVIDIA A30"), html.find("first"));
}

TEST(Page, APackedLibraryStandsInItAsLetters) {
    // gzip's two first bytes and one more: H4sI in base64 (RFC 4648).
    const std::string html = to_html(hostile_page(), "\x1f\x8b\x08");
    EXPECT_THAT(html, HasSubstr("<script type=\"text/plain\" id=\"packed\">H4sI</script>"));
}

}  // namespace
}  // namespace joulecast
