#pragma once

#include <array>
#include <string>
#include <string_view>

namespace joulecast {

/// The colours of Okabe and Ito, which people with any kind of colour vision can tell apart.
inline constexpr std::array palette_colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};

/// Of what stands side by side (devices, settings): none is one of the palette, which means kinds of work.
inline constexpr std::array compared_colours = {"#7B6FD0", "#2A9D8F", "#C8596B", "#8A8A2E", "#A0703C", "#7F8790"};

/// "#0072B2" as "rgba(0,114,178,0.2)".
std::string paler(std::string_view colour, double opacity);

/// Plotly reads a subset of HTML in its texts; names of ours are text. Quotes stay: it does not know their entities.
std::string figure_text(std::string_view text);

/// JSON that stands in a <script>: nothing in it may end the script.
std::string in_script(std::string json);

}  // namespace joulecast
