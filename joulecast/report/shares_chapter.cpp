#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "joulecast/report/shares.h"

namespace joulecast {
namespace {

constexpr std::size_t most_bars = 10;
constexpr std::size_t most_open_treemaps = 4;
constexpr std::size_t most_tiles = 1500;
constexpr std::size_t module_depth = 2;

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

bool is_numbered(const std::string& part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
}

/// "transformer.h.3.attn" -> "transformer", "h.*", "attn": numbered modules of one kind are one tile, which is what
/// one can read of a network of a hundred layers.
std::vector<std::string> tile_path(const std::string& module) {
    std::vector<std::string> path;
    for (std::size_t from = 0; from < module.size();) {
        const std::size_t end = std::min(module.find('.', from), module.size());
        const std::string part = module.substr(from, end - from);
        if (!is_numbered(part))
            path.push_back(part);
        else if (path.empty())
            path.emplace_back("*");
        else if (!path.back().ends_with('*'))
            path.back() += ".*";
        from = end + 1;
    }
    return path;
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
        std::vector<std::string> path = tile_path(call.module);
        const std::string last = path.empty() ? "" : path.back();
        if (!path.empty()) path.pop_back();
        const std::string parent = branch(path);
        const std::string label = last.empty() ? call.op : last + ": " + call.op;
        const std::string id = parent + "|" + label;
        const auto [place, is_new] = places_.try_emplace(id, tiles_.size());
        if (is_new) tiles_.push_back({id, parent, label, "", 0, work_kind(call.family).colour});
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
    std::string branch(const std::vector<std::string>& path) {
        std::string parent = "/";
        std::string module;
        for (const std::string& part : path) {
            module += (module.empty() ? "" : ".") + part;
            const std::string id = "/" + module;
            const auto [place, is_new] = places_.try_emplace(id, tiles_.size());
            if (is_new) {
                if (tiles_.size() > most_tiles) return parent;  // deeper calls count in the module above
                tiles_.push_back({id, parent, part, module, 0, 0});
            }
            parent = id;
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

Drawing treemap_of(const std::string& label, const std::vector<CallShare>& calls, bool energy) {
    const auto part = energy ? &CallShare::energy_j : &CallShare::time_s;
    Tiles tiles(label);
    for (const CallShare& call : calls) tiles.add(call, call.*part);
    Treemap treemap;
    treemap.title = std::string("Where the ") + (energy ? "energy" : "time") + " of " + label + " goes";
    treemap.tiles = tiles.finished(energy ? Show::joules : Show::seconds, total_of(calls, part));
    Drawing drawing = drawn(treemap);
    drawing.height_px = 340;
    return drawing;
}

/// The forecasts that are drawn, with what their calls take.
struct Shares {
    std::vector<std::string> labels;
    std::vector<std::vector<CallShare>> calls;
    std::vector<std::size_t> places;  ///< among all forecasts
};

Shares shares_of(const std::vector<ReportedForecast>& forecasts) {
    const auto names = labels(forecasts);
    Shares shares;
    for (std::size_t i = 0; i < std::min(forecasts.size(), most_detailed_forecasts); ++i) {
        auto calls = call_shares(forecasts[i]);
        if (!(total_of(calls, &CallShare::time_s) > 0)) continue;
        shares.labels.push_back(names[i]);
        shares.calls.push_back(std::move(calls));
        shares.places.push_back(i);
    }
    return shares;
}

/// Treemaps side by side, those behind the first four behind a click.
void add_treemaps(Chapter& chapter, const Shares& shares) {
    SideBySide time;
    Folded others{"Treemaps of time of the other forecasts", {}};
    Folded energy{"Where the energy goes: treemaps", {}};
    SideBySide more;
    SideBySide of_energy;
    for (std::size_t i = 0; i < shares.calls.size(); ++i) {
        (i < most_open_treemaps ? time : more).drawings.push_back(treemap_of(shares.labels[i], shares.calls[i], false));
        if (total_of(shares.calls[i], &CallShare::energy_j) > 0)
            of_energy.drawings.push_back(treemap_of(shares.labels[i], shares.calls[i], true));
    }
    chapter.blocks.emplace_back(std::move(time));
    if (!more.drawings.empty()) {
        others.blocks.emplace_back(std::move(more));
        chapter.blocks.emplace_back(std::move(others));
    }
    if (!of_energy.drawings.empty()) {
        energy.blocks.emplace_back(std::move(of_energy));
        chapter.blocks.emplace_back(std::move(energy));
    }
}

/// The forecasts' shares by name as bars beside each other: the dearest of any on top, the rest in one bar.
Plot bars_of(const std::string& title, const Shares& shares, const std::vector<std::size_t>& which,
             std::string (*name_of)(const CallShare&), bool energy) {
    const auto part = energy ? &CallShare::energy_j : &CallShare::time_s;
    const auto named_part = energy ? &NamedShare::energy_j : &NamedShare::time_s;
    std::map<std::string, double> most;  // of its shares
    std::vector<std::map<std::string, double>> values(which.size());
    for (std::size_t k = 0; k < which.size(); ++k) {
        const auto& calls = shares.calls[which[k]];
        for (const NamedShare& share : shares_by(calls, name_of)) {
            values[k][share.name] = share.*named_part;
            double& largest = most[share.name];
            largest = std::max(largest, share.*named_part / total_of(calls, part));
        }
    }
    std::vector<std::string> names;
    for (const auto& [called, share] : most) names.push_back(called);
    std::ranges::stable_sort(names, std::greater{}, [&](const std::string& called) { return most[called]; });
    const std::size_t others = names.size() > most_bars ? names.size() - most_bars + 1 : 0;
    names.resize(names.size() - others);
    Plot plot{title, "", {energy ? "share of the energy" : "share of the time", "%"}, {""}, {}, {}};
    plot.y.labels = names;
    if (others > 0) plot.y.labels.push_back(std::to_string(others) + " others");
    for (std::size_t k = 0; k < which.size(); ++k) {
        const double total = total_of(shares.calls[which[k]], part);
        PlotSeries bars{shares.labels[which[k]], PlotSeries::Style::lying_bars, {}, {}};
        bars.colour = colour_of_forecast(shares.places[which[k]]);
        double rest = 0;
        for (const auto& [called, value] : values[k]) rest += value;
        for (std::size_t row = 0; row < plot.y.labels.size(); ++row) {
            const double value = row < names.size() ? values[k][names[row]] : rest;
            rest -= value;
            bars.x.push_back(100 * value / total);
            bars.y.push_back(static_cast<double>(row));
            bars.texts.push_back(plot.y.labels[row] + ": " + show(value, energy ? Show::joules : Show::seconds) + ", " +
                                 show(value / total, Show::percent));
        }
        plot.series.push_back(std::move(bars));
    }
    const double of_row = 12 + 10 * static_cast<double>(which.size());
    plot.height_px = 120 + of_row * static_cast<double>(plot.y.labels.size());
    return plot;
}

/// Bars for each model, whose operations and modules are its own.
SideBySide bars_by(const std::string& by, const Shares& shares, const std::vector<ReportedForecast>& forecasts,
                   std::string (*name_of)(const CallShare&), bool energy) {
    std::vector<std::string> models;
    for (const std::size_t place : shares.places) {
        const std::string& model = forecasts[place].network.model;
        if (std::ranges::find(models, model) == models.end()) models.push_back(model);
    }
    SideBySide row;
    for (const std::string& model : models) {
        std::vector<std::size_t> which;
        bool any = false;
        for (std::size_t k = 0; k < shares.places.size(); ++k) {
            if (forecasts[shares.places[k]].network.model != model) continue;
            const bool has_energy = total_of(shares.calls[k], &CallShare::energy_j) > 0;
            if (energy && !has_energy) continue;
            which.push_back(k);
            any |= !shares_by(shares.calls[k], name_of).empty();
        }
        if (!any) continue;
        const std::string title =
            std::string(energy ? "Energy" : "Time") + " by " + by + (models.size() > 1 ? ": " + model : "");
        row.drawings.push_back(drawn(bars_of(title, shares, which, name_of, energy)));
    }
    return row;
}

void add_bars(Chapter& chapter, const Shares& shares, const std::vector<ReportedForecast>& forecasts) {
    SideBySide by_operation = bars_by("operation", shares, forecasts, op_of, false);
    if (by_operation.drawings.size() == 1) {
        // One network: its energy stands beside its time.
        SideBySide energy = bars_by("operation", shares, forecasts, op_of, true);
        std::ranges::move(energy.drawings, std::back_inserter(by_operation.drawings));
        chapter.blocks.emplace_back(std::move(by_operation));
    } else {
        chapter.blocks.emplace_back(std::move(by_operation));
        SideBySide energy = bars_by("operation", shares, forecasts, op_of, true);
        if (!energy.drawings.empty()) chapter.blocks.emplace_back(Folded{"Energy by operation", {std::move(energy)}});
    }
    std::string missing;
    const auto add = [&](const char* by, const char* missing_name, auto name_of) {
        Folded folded{std::string("By ") + by, {}};
        for (const bool energy : {false, true}) {
            SideBySide row = bars_by(by, shares, forecasts, name_of, energy);
            if (!row.drawings.empty()) folded.blocks.emplace_back(std::move(row));
        }
        if (folded.blocks.empty())
            missing += (missing.empty() ? "" : " and ") + std::string(missing_name);
        else
            chapter.blocks.emplace_back(std::move(folded));
    };
    add("module", "module paths", module_of);
    add("source line", "source lines", source_of);
    if (!missing.empty())
        chapter.blocks.emplace_back(
            Paragraph{"The model file names no " + missing + ", so nothing is shown by them.", Paragraph::Kind::note});
}

}  // namespace

Chapter shares_chapter(const std::vector<ReportedForecast>& forecasts) {
    Chapter chapter{"Where time and energy go", {}};
    const Shares shares = shares_of(forecasts);
    if (shares.calls.empty()) return chapter;
    chapter.blocks.emplace_back(Paragraph{
        "Areas and bars are shares of the sum of all calls, each taken by itself: what host and device do at the same "
        "time, and the correction of whole networks, are not in them. Layers that differ in their number alone are one "
        "tile (layer1.* is layer1.0, layer1.1 and so on). Blue: convolution, vermilion: matrix products, green: "
        "normalisation, purple: attention and softmax, orange: element-wise, pooling and reductions, light blue: "
        "copies, indexing, views and the rest."});
    add_treemaps(chapter, shares);
    add_bars(chapter, shares, forecasts);
    if (forecasts.size() > most_detailed_forecasts)
        chapter.blocks.emplace_back(Paragraph{"Shown for the first " + std::to_string(most_detailed_forecasts) +
                                                  " of " + std::to_string(forecasts.size()) +
                                                  " forecasts. Ask for fewer at once to see the others.",
                                              Paragraph::Kind::note});
    return chapter;
}

}  // namespace joulecast
