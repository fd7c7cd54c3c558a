#include "cli/picture.h"

#include <fstream>
#include <iterator>

#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

/// Comes with the program, but not with its source: tools/setup.sh fetches it.
std::string plotly_file() {
    return shipped_folder("plotly.min.js");
}

}  // namespace

std::string picture_missing_reason() {
    if (std::ifstream(plotly_file()).good()) return "";
    return "no picture can be drawn: " + plotly_file() +
           " is missing. Take it out of the Python package plotly (plotly/package_data/plotly.min.js), or let "
           "./quickstart fetch it and build joulecast again.";
}

std::string packed_plotly_library() {
    std::ifstream input(plotly_file() + ".gz", std::ios::binary);
    if (!input.good()) return plotly_library();
    return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

std::string plotly_library() {
    std::ifstream input(plotly_file(), std::ios::binary);
    std::string plotly{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
    if (!input || plotly.empty()) throw Error(picture_missing_reason());
    return plotly;
}

void write_picture(const std::string& file, const std::vector<Plot>& plots) {
    Output{.format = "html", .file = file}.write(to_html(plots, plotly_library()));
}

}  // namespace joulecast::cli
