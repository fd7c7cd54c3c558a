#pragma once

#include <string>
#include <string_view>
#include <utility>
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
    /// Columns of long texts that stand in lines of their own below their row, by key: on paper no column is narrow.
    std::vector<std::string> keys_below = {};
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

/// Drawings beside each other where the screen is wide enough for that, else below each other.
struct SideBySide {
    std::vector<Drawing> drawings;
    int columns = 2;  ///< 2 or 3
};

/// Behind a click; closed at first, and on paper.
struct Folded {
    std::string title;
    std::vector<std::variant<Heading, Paragraph, TitledTable, Drawing, SideBySide>> blocks;
};

using Block = std::variant<Heading, Paragraph, TitledTable, Drawing, SideBySide, Folded>;

/// Everything in it is text and is escaped by the page.
struct Chapter {
    std::string title;
    std::vector<Block> blocks;
};

struct Page {
    std::string title;
    /// What was asked: "device", "NVIDIA A30".
    std::vector<std::pair<std::string, std::string>> asked = {};
    std::vector<std::string> commands = {};  ///< that the page is of
    std::string summary = {};                ///< the answer in words; each line is a paragraph
    std::vector<Chapter> chapters = {};
    std::string footer = {};
};

/// Rows of a table that a page shows at once; those behind them are folded.
inline constexpr std::size_t most_open_rows = 25;
/// And in all; of a longer one the rest is counted below it.
inline constexpr std::size_t most_shown_rows = 200;

/// One file that opens without a network, from 400 px of width on, light, dark and printed. `plotly` is the text of
/// plotly.min.js, or what gzip makes of it, which a browser unpacks: 1.5 MB in place of 5, but the figures come a
/// moment later than the text, too late for a browser that prints at once. Empty is right where no chapter has a
/// figure.
std::string to_html(const Page& page, const std::string& plotly);

}  // namespace joulecast
