#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/report/plot.h"
#include "joulecast/report/table.h"
#include "joulecast/report/treemap.h"

namespace joulecast {

/// Text as it stands between tags and in quoted attributes: & < > " ' are entities; control characters but line feeds,
/// and bytes that are no UTF-8, become U+FFFD.
std::string escaped(std::string_view text);

struct Heading {
    std::string text;
};

struct Paragraph {
    enum class Kind { plain, note };  ///< a note says what is missing or what a number does not mean
    std::string text;
    Kind kind = Kind::plain;
};

struct TitledTable {
    std::string title;
    Table table;
};

/// A figure of Plotly's with what stands around it.
struct Drawing {
    std::string title;
    std::string note;
    std::string json;  ///< as to_figure_json() makes it, without a title
    double height_px = 420;
};

/// The plot's title and subtitle stand above it as text, where narrow screens can break them.
Drawing drawn(Plot plot, const std::string& note = {});
Drawing drawn(const Treemap& treemap, const std::string& note = {});

using Block = std::variant<Heading, Paragraph, TitledTable, Drawing>;

/// Everything in it is text and is escaped by the page.
struct Chapter {
    std::string title;
    std::vector<Block> blocks;
};

struct Page {
    std::string title;
    std::string summary;  ///< one sentence or two
    std::vector<Chapter> chapters;
    std::string footer;
};

/// Rows of a table that a page shows; of a longer one the rest is counted below it.
inline constexpr std::size_t most_shown_rows = 200;

/// One file that opens without a network, from 400 px of width on, light, dark and printed. `plotly` is the text of
/// plotly.min.js; empty is right where no chapter has a figure.
std::string to_html(const Page& page, const std::string& plotly);

}  // namespace joulecast
