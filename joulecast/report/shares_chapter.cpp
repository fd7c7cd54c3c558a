#include <algorithm>
#include <cmath>
#include <map>

#include "joulecast/report/shares.h"

namespace joulecast {
namespace {

constexpr std::size_t most_bars = 15;
constexpr std::size_t most_tiles = 1500;
constexpr std::size_t module_depth = 2;

/// Place in the palette, counted from 1, so that a kind of work has one colour in every figure.
std::size_t colour_of(Family family) {
    switch (family) {
        case Family::convolution:
            return 1;
        case Family::matmul:
            return 2;
        case Family::normalization:
            return 3;
        case Family::attention:
        case Family::softmax:
            return 4;
        case Family::elementwise:
        case Family::pooling:
        case Family::reduction:
        case Family::loss:
            return 5;
        default:
            return 6;
    }
}

/// "layer1.0.conv1" -> "layer1.0" at depth 2.
std::string upper_module(const std::string& path) {
    std::size_t at = 0;
    for (std::size_t depth = 0; depth < module_depth; ++depth) {
        at = path.find('.', at);
        if (at == std::string::npos) return path;
        ++at;
    }
    return path.substr(0, at - 1);
}

std::string op_of(const CallShare& call) {
    return call.op;
}
std::string module_of(const CallShare& call) {
    return upper_module(call.module);
}
std::string source_of(const CallShare& call) {
    // Folders are the reader's own and long.
    const std::size_t slash = call.source.find_last_of('/');
    return slash == std::string::npos ? call.source : call.source.substr(slash + 1);
}

/// The tiles of a treemap, merged by module and operation.
class Tiles {
  public:
    explicit Tiles(const std::string& root) { tiles_.push_back({"/", "", root, root, 0, 0}); }

    void add(const CallShare& call, double value) {
        if (!(value > 0)) return;
        // The module that makes the call and the call are one tile.
        const std::size_t dot = call.module.find_last_of('.');
        const std::string parent = branch(dot == std::string::npos ? "" : call.module.substr(0, dot));
        const std::string last = dot == std::string::npos ? call.module : call.module.substr(dot + 1);
        const std::string label = last.empty() ? call.op : last + ": " + call.op;
        const std::string id = parent + "|" + label;
        const auto [place, is_new] = places_.try_emplace(id, tiles_.size());
        if (is_new) tiles_.push_back({id, parent, label, "", 0, colour_of(call.family)});
        tiles_[place->second].value += value;
    }

    /// With what is shown when one points at them.
    std::vector<Tile> finished(Show how, double total) {
        for (Tile& tile : tiles_) {
            if (tile.colour == 0) continue;
            const std::string module = tile.parent == "/" ? "" : tile.parent.substr(1) + ": ";
            tile.text =
                module + tile.label + ", " + show(tile.value, how) + ", " + show(tile.value / total, Show::percent);
        }
        return std::move(tiles_);
    }

  private:
    std::string branch(const std::string& module) {
        std::string parent = "/";
        for (std::size_t at = 0; at < module.size();) {
            const std::size_t end = std::min(module.find('.', at), module.size());
            const std::string id = "/" + module.substr(0, end);
            const auto [place, is_new] = places_.try_emplace(id, tiles_.size());
            if (is_new) {
                if (tiles_.size() > most_tiles) return parent;  // deeper calls count in the module above
                tiles_.push_back({id, parent, module.substr(at, end - at), module.substr(0, end), 0, 0});
            }
            parent = id;
            at = end + 1;
        }
        return parent;
    }

    std::vector<Tile> tiles_;
    std::map<std::string, std::size_t> places_;
};

double total_of(const std::vector<CallShare>& calls, double CallShare::* part) {
    double total = 0;
    for (const CallShare& call : calls) total += call.*part;
    return total;
}

void add_treemap(Chapter& chapter, const std::string& label, const std::vector<CallShare>& calls, bool energy) {
    const auto part = energy ? &CallShare::energy_j : &CallShare::time_s;
    const double total = total_of(calls, part);
    if (!(total > 0)) return;
    Tiles tiles(label);
    for (const CallShare& call : calls) tiles.add(call, call.*part);
    Treemap treemap;
    treemap.title = std::string("Where the ") + (energy ? "energy" : "time") + " of " + label + " goes";
    treemap.subtitle =
        "Click on a module to see its calls. Blue: convolution, vermilion: matrix products, green: "
        "normalisation, purple: attention and softmax, orange: element-wise, pooling and reductions, light blue: "
        "copies, indexing, views and the rest";
    treemap.tiles = tiles.finished(energy ? Show::joules : Show::seconds, total);
    chapter.blocks.emplace_back(drawn(treemap));
}

/// Shares of time and energy, dearest on top, the rest in one bar.
void add_bars(Chapter& chapter, const std::string& title, std::vector<NamedShare> shares, double time_s,
              double energy_j) {
    if (shares.size() > most_bars) {
        NamedShare rest{std::to_string(shares.size() - most_bars + 1) + " others", 0, 0};
        for (std::size_t i = most_bars - 1; i < shares.size(); ++i) {
            rest.time_s += shares[i].time_s;
            rest.energy_j += shares[i].energy_j;
        }
        shares.resize(most_bars - 1);
        shares.push_back(rest);
    }
    Plot plot{title, "", {"share of the calls' sum", "%"}, {""}, {}, {}};
    const bool has_energy = std::isfinite(energy_j) && energy_j > 0;
    PlotSeries time{"time", PlotSeries::Style::lying_bars, {}, {}};
    PlotSeries energy{"energy", PlotSeries::Style::lying_bars, {}, {}};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        plot.y.labels.push_back(shares[i].name);
        time.x.push_back(100 * shares[i].time_s / time_s);
        time.y.push_back(static_cast<double>(i));
        time.texts.push_back(shares[i].name + ": " + show(shares[i].time_s, Show::seconds));
        energy.x.push_back(100 * shares[i].energy_j / energy_j);
        energy.y.push_back(static_cast<double>(i));
        energy.texts.push_back(shares[i].name + ": " + show(shares[i].energy_j, Show::joules));
    }
    plot.series.push_back(std::move(time));
    if (has_energy) plot.series.push_back(std::move(energy));
    plot.height_px = 130 + 30 * static_cast<double>(shares.size());
    chapter.blocks.emplace_back(drawn(std::move(plot)));
}

void add_shares(Chapter& chapter, const std::string& label, const ReportedForecast& forecast) {
    const auto calls = call_shares(forecast);
    const double time_s = total_of(calls, &CallShare::time_s);
    const double energy_j = total_of(calls, &CallShare::energy_j);
    if (!(time_s > 0)) return;
    chapter.blocks.emplace_back(Heading{label});
    add_treemap(chapter, label, calls, false);
    if (std::isfinite(energy_j)) add_treemap(chapter, label, calls, true);
    add_bars(chapter, "By operation", shares_by(calls, op_of), time_s, energy_j);
    const auto modules = shares_by(calls, module_of);
    const auto sources = shares_by(calls, source_of);
    std::string missing;
    if (modules.empty()) missing = "module paths";
    if (sources.empty()) missing += (missing.empty() ? "" : " and ") + std::string("source lines");
    if (!modules.empty()) add_bars(chapter, "By module", modules, time_s, energy_j);
    if (!sources.empty()) add_bars(chapter, "By source line", sources, time_s, energy_j);
    if (!missing.empty())
        chapter.blocks.emplace_back(
            Paragraph{"The model file names no " + missing + ", so nothing is shown by them.", Paragraph::Kind::note});
}

}  // namespace

Chapter shares_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Where time and energy go", {}};
    const auto names = labels(forecasts);
    chapter.blocks.emplace_back(
        Paragraph{"Shares are of the sum of all calls, each taken by itself. They do not include what host and device "
                  "do at the same time, nor the correction of whole networks."});
    const std::size_t shown = std::min(forecasts.size(), most_detailed_forecasts);
    for (std::size_t i = 0; i < shown; ++i) add_shares(chapter, names[i], forecasts[i]);
    if (shown < forecasts.size())
        chapter.blocks.emplace_back(Paragraph{"Shown for the first " + std::to_string(shown) + " of " +
                                                  std::to_string(forecasts.size()) +
                                                  " forecasts. Ask for fewer at once to see the others.",
                                              Paragraph::Kind::note});
    return chapter;
}

}  // namespace joulecast
