#include <dlfcn.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/learn/boosted_trees.h"

namespace joulecast {
namespace {

using nlohmann::json;

/// Above every feature, and still finite when XGBoost doubles it to end its last bin.
constexpr float above_all = 1e30F;

/// libxgboost's functions. It is opened when a model is first boosted and stays open: it and the libraries that it
/// needs take 3 ms to load, which a forecast is not to wait for (docs/decisions/0016).
class Library {
  public:
    /// Throws Error where there is none.
    static const Library& opened() {
        static const Library library;
        return library;
    }

  private:
    static void* open() {
        for (const char* file : {"libxgboost.so.0", JOULECAST_XGBOOST}) {
            if (void* handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
        }
        throw Error(std::string("cannot boost trees without libxgboost: ") + ::dlerror() +
                    ". Install it (Debian: libxgboost0), or train with another --learner.");
    }
    template <class Function>
    Function function(const char* name) const {
        if (void* found = ::dlsym(file_, name)) return reinterpret_cast<Function>(found);
        throw Error(std::string("libxgboost has no function ") + name + ": joulecast is for version 1.7.");
    }

    void* file_ = open();

  public:
    decltype(&XGBGetLastError) last_error = function<decltype(&XGBGetLastError)>("XGBGetLastError");
    decltype(&XGDMatrixCreateFromMat) create_matrix =
        function<decltype(&XGDMatrixCreateFromMat)>("XGDMatrixCreateFromMat");
    decltype(&XGDMatrixSetFloatInfo) set_matrix = function<decltype(&XGDMatrixSetFloatInfo)>("XGDMatrixSetFloatInfo");
    decltype(&XGDMatrixFree) free_matrix = function<decltype(&XGDMatrixFree)>("XGDMatrixFree");
    decltype(&XGBoosterCreate) create_booster = function<decltype(&XGBoosterCreate)>("XGBoosterCreate");
    decltype(&XGBoosterSetParam) set_parameter = function<decltype(&XGBoosterSetParam)>("XGBoosterSetParam");
    decltype(&XGBoosterUpdateOneIter) update = function<decltype(&XGBoosterUpdateOneIter)>("XGBoosterUpdateOneIter");
    decltype(&XGBoosterSaveModelToBuffer) save =
        function<decltype(&XGBoosterSaveModelToBuffer)>("XGBoosterSaveModelToBuffer");
    decltype(&XGBoosterFree) free_booster = function<decltype(&XGBoosterFree)>("XGBoosterFree");
};

void require(int status) {
    if (status != 0) throw Error(std::string("XGBoost failed: ") + Library::opened().last_error());
}

struct FreeMatrix {
    void operator()(void* handle) const { Library::opened().free_matrix(handle); }
};
struct FreeBooster {
    void operator()(void* handle) const { Library::opened().free_booster(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

using Columns = std::vector<std::size_t>;

/// Those that can part rows. Columns of a single value, of which a family has many, would take time in every node.
Columns telling_columns(const Samples& samples) {
    Columns telling;
    for (std::size_t column = 0; column < samples.columns(); ++column) {
        const auto values = samples.column(column);
        if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
            telling.push_back(column);
    }
    if (telling.empty()) telling.push_back(0);  // a matrix without columns is none
    return telling;
}

Matrix make_matrix(const Samples& samples, const Columns& columns, const std::vector<float>& labels) {
    std::vector<float> rows(samples.rows() * columns.size());
    for (std::size_t place = 0; place < columns.size(); ++place) {
        const auto values = samples.column(columns[place]);
        for (std::size_t row = 0; row < samples.rows(); ++row) {
            rows[row * columns.size() + place] = std::isfinite(values[row]) ? values[row] : above_all;
        }
    }
    DMatrixHandle handle = nullptr;
    const Library& library = Library::opened();
    require(library.create_matrix(rows.data(), samples.rows(), columns.size(), std::numeric_limits<float>::quiet_NaN(),
                                  &handle));
    Matrix matrix(handle);
    require(library.set_matrix(handle, "label", labels.data(), labels.size()));
    return matrix;
}

std::string text(double value) {
    std::array<char, 40> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), "%.17g", value);
    return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string text(const std::vector<int>& monotone) {
    std::string list = "(";
    for (const int direction : monotone) list += (list.size() > 1 ? "," : "") + std::to_string(direction);
    return list + ")";
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

Parameters parameters(const BoostSettings& settings, const Columns& columns) {
    Parameters parameters = {{"objective", "reg:squarederror"},
                             {"base_score", "0"},
                             {"booster", "gbtree"},
                             {"verbosity", "0"},
                             {"validate_parameters", "1"},
                             {"tree_method", settings.exact ? "exact" : "hist"},
                             {"learning_rate", text(settings.learning_rate)},
                             {"max_depth", std::to_string(settings.max_depth)},
                             {"min_child_weight", text(settings.min_child_weight)},
                             {"subsample", text(settings.subsample)},
                             {"colsample_bytree", text(settings.colsample_bytree)},
                             {"colsample_bynode", text(settings.colsample_bynode)},
                             {"reg_lambda", text(settings.reg_lambda)},
                             {"gamma", text(settings.gamma)},
                             {"seed", std::to_string(settings.seed % (1U << 31U))},
                             {"nthread", std::to_string(std::max(1U, settings.threads))}};
    if (!settings.exact) parameters.emplace_back("max_bin", std::to_string(settings.max_bin));
    if (settings.max_leaves > 0) {
        parameters.emplace_back("grow_policy", "lossguide");
        parameters.emplace_back("max_leaves", std::to_string(settings.max_leaves));
    }
    if (!settings.monotone.empty()) {
        std::vector<int> monotone;
        for (const std::size_t column : columns) monotone.push_back(settings.monotone[column]);
        parameters.emplace_back("monotone_constraints", text(monotone));
    }
    return parameters;
}

std::span<const std::byte> saved(void* booster) {
    bst_ulong size = 0;
    const char* data = nullptr;
    require(Library::opened().save(booster, R"({"format":"ubj"})", &size, &data));
    return std::as_bytes(std::span(data, size));
}

/// One tree of XGBoost, whose nodes lie in any order, into our preorder.
class TreeReader {
  public:
    explicit TreeReader(const json& tree)
        : left_(tree.at("left_children").get<std::vector<std::int32_t>>()),
          right_(tree.at("right_children").get<std::vector<std::int32_t>>()),
          columns_(tree.at("split_indices").get<std::vector<std::int32_t>>()),
          values_(tree.at("split_conditions").get<std::vector<float>>()) {
        if (right_.size() != left_.size() || columns_.size() != left_.size() || values_.size() != left_.size())
            throw FormatError("an XGBoost tree has lists of different lengths");
    }

    void append_to(Forest& forest) const {
        struct Open {
            std::int32_t node;
            std::int32_t parent;  ///< whose right child this is, or -1
        };
        forest.roots.push_back(static_cast<std::int32_t>(forest.nodes.size()));
        std::vector<Open> open{{0, -1}};
        for (std::size_t seen = 0; !open.empty(); ++seen) {
            const auto [node, parent] = open.back();
            open.pop_back();
            const auto at = static_cast<std::size_t>(node);
            // More visits than nodes: they form a circle.
            if (node < 0 || at >= left_.size() || seen >= left_.size())
                throw FormatError("an XGBoost tree has children that are not there");
            const auto place = static_cast<std::int32_t>(forest.nodes.size());
            if (left_[at] >= 0 && columns_[at] < 0) throw FormatError("an XGBoost tree asks a column below the first");
            if (parent >= 0) forest.nodes[static_cast<std::size_t>(parent)].right = place;
            if (left_[at] < 0) {
                forest.nodes.push_back({-1, values_[at], 0});
                continue;
            }
            const float below = std::nextafter(values_[at], -std::numeric_limits<float>::infinity());
            forest.nodes.push_back({columns_[at], below, 0});
            open.push_back({right_[at], place});
            open.push_back({left_[at], -1});
        }
    }

  private:
    std::vector<std::int32_t> left_;
    std::vector<std::int32_t> right_;
    std::vector<std::int32_t> columns_;
    std::vector<float> values_;  ///< threshold, or the leaf's value
};

/// XGBoost writes numbers of its parameters as text: "5E-1".
double number(const json& value) {
    const auto written = value.get<std::string>();
    double parsed = 0;
    const char* const end = written.data() + written.size();
    const auto [stopped, failure] = std::from_chars(written.data(), end, parsed);
    if (failure != std::errc() || stopped != end)
        throw FormatError("an XGBoost model has the base score \"" + written + "\"");
    return parsed;
}

}  // namespace

BoostedTrees fit_boosted(const Samples& samples, std::span<const double> targets, const BoostSettings& settings) {
    if (!settings.monotone.empty() && settings.monotone.size() != samples.columns()) {
        throw Error("there are " + std::to_string(settings.monotone.size()) + " monotone constraints for " +
                    std::to_string(samples.columns()) + " columns");
    }
    if (settings.rounds == 0) throw Error("boosting takes at least one round");
    double mean = 0;
    for (const double target : targets) mean += target / static_cast<double>(targets.size());
    std::vector<float> labels;
    labels.reserve(targets.size());
    for (const double target : targets) labels.push_back(static_cast<float>(target - mean));
    const Columns columns = telling_columns(samples);
    const Matrix matrix = make_matrix(samples, columns, labels);
    DMatrixHandle matrices[] = {matrix.get()};
    const Library& library = Library::opened();
    BoosterHandle handle = nullptr;
    require(library.create_booster(matrices, 1, &handle));
    const Booster booster(handle);
    for (const auto& [key, value] : parameters(settings, columns))
        require(library.set_parameter(handle, key.c_str(), value.c_str()));
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        require(library.update(handle, static_cast<int>(round), matrix.get()));
    }
    BoostedTrees model = from_xgboost(saved(handle));
    for (ForestNode& node : model.forest.nodes) {
        if (node.feature >= 0)
            node.feature = static_cast<std::int32_t>(columns.at(static_cast<std::size_t>(node.feature)));
    }
    model.base += mean;
    check(model, samples.columns());
    return model;
}

BoostedTrees from_xgboost(std::span<const std::byte> ubj) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(ubj.data());
    BoostedTrees model;
    try {
        const json whole = json::from_ubjson(data, data + ubj.size());
        const json& learner = whole.at("learner");
        const auto objective = learner.at("objective").at("name").get<std::string>();
        if (objective != "reg:squarederror") throw FormatError("an XGBoost model has the objective " + objective);
        model.base = number(learner.at("learner_model_param").at("base_score"));
        for (const json& tree : learner.at("gradient_booster").at("model").at("trees"))
            TreeReader(tree).append_to(model.forest);
    } catch (const json::exception& failure) {
        throw FormatError(std::string("this is not an XGBoost model of trees: ") + failure.what());
    }
    return model;
}

}  // namespace joulecast
