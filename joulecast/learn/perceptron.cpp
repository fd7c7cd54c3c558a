#include "joulecast/learn/perceptron.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/learn/folds.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Where the parameters of each layer lie in one long vector.
struct Place {
    Index inputs = 0;
    Index outputs = 0;
    Index weights = 0;
    Index biases = 0;
};

std::vector<Place> places_of(std::span<const std::size_t> units) {
    std::vector<Place> places;
    Index at = 0;
    for (std::size_t layer = 0; layer + 1 < units.size(); ++layer) {
        const auto inputs = static_cast<Index>(units[layer]);
        const auto outputs = static_cast<Index>(units[layer + 1]);
        places.push_back({inputs, outputs, at, at + inputs * outputs});
        at += (inputs + 1) * outputs;
    }
    return places;
}

Index parameters_in(const std::vector<Place>& places) {
    return places.back().biases + places.back().outputs;
}

/// Inputs x outputs, so that those of one output lie together.
auto weights(auto& parameters, const Place& place) {
    return Eigen::Map<
        std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(parameters)>>, const MatrixXd, MatrixXd>>(
        parameters.data() + place.weights, place.inputs, place.outputs);
}

/// What each layer says of a batch, one row a column; the inputs first.
std::vector<MatrixXd> forward(const std::vector<Place>& places, const VectorXd& parameters, MatrixXd batch) {
    std::vector<MatrixXd> said{std::move(batch)};
    for (std::size_t layer = 0; layer < places.size(); ++layer) {
        MatrixXd sums = weights(parameters, places[layer]).transpose() * said.back();
        sums.colwise() += parameters.segment(places[layer].biases, places[layer].outputs);
        if (layer + 1 < places.size()) sums = sums.cwiseMax(0.0);
        said.push_back(std::move(sums));
    }
    return said;
}

double loss_and_gradient(const std::vector<Place>& places, const VectorXd& parameters, const MatrixXd& batch,
                         const VectorXd& targets, double alpha, VectorXd& gradient) {
    const auto said = forward(places, parameters, batch);
    const auto rows = static_cast<double>(targets.size());
    MatrixXd delta = said.back() - targets.transpose();
    double loss = 0.5 * delta.squaredNorm() / rows;
    delta /= rows;
    gradient.resize(parameters.size());
    for (std::size_t layer = places.size(); layer-- > 0;) {
        const Place& place = places[layer];
        const auto of_layer = weights(parameters, place);
        loss += 0.5 * alpha / rows * of_layer.squaredNorm();
        weights(gradient, place).noalias() = said[layer] * delta.transpose();
        weights(gradient, place) += alpha / rows * of_layer;
        gradient.segment(place.biases, place.outputs) = delta.rowwise().sum();
        if (layer == 0) break;
        MatrixXd before = of_layer * delta;
        // A unit that said nothing passes nothing back.
        delta = (said[layer].array() > 0).select(before, 0.0);
    }
    return loss;
}

VectorXd first_parameters(const std::vector<Place>& places, Random& random) {
    VectorXd parameters(parameters_in(places));
    for (const Place& place : places) {
        const double bound = std::sqrt(6.0 / static_cast<double>(place.inputs + place.outputs));  // Glorot, Bengio 2010
        for (Index i = place.weights; i < place.biases + place.outputs; ++i) {
            parameters[i] = bound * (2 * random.uniform() - 1);
        }
    }
    return parameters;
}

/// Moments of the gradient (Kingma, Ba 2015, algorithm 1).
class Adam {
  public:
    Adam(Index size, double rate) : rate_(rate), first_(VectorXd::Zero(size)), second_(VectorXd::Zero(size)) {}

    void step(VectorXd& parameters, const VectorXd& gradient) {
        constexpr double beta_1 = 0.9;
        constexpr double beta_2 = 0.999;
        ++steps_;
        first_ = beta_1 * first_ + (1 - beta_1) * gradient;
        second_.array() = beta_2 * second_.array() + (1 - beta_2) * gradient.array().square();
        const double rate = rate_ * std::sqrt(1 - std::pow(beta_2, steps_)) / (1 - std::pow(beta_1, steps_));
        parameters.array() -= rate * first_.array() / (second_.array().sqrt() + 1e-8);
    }

  private:
    double rate_;
    double steps_ = 0;
    VectorXd first_;
    VectorXd second_;
};

/// Prepared rows, one a column, with their standardised targets.
struct Prepared {
    MatrixXd rows;
    VectorXd targets;
};

Prepared part(const Perceptron& model, const Samples& samples, std::span<const double> targets,
              const std::vector<std::size_t>& chosen) {
    Prepared result{MatrixXd(static_cast<Index>(model.inputs.width()), static_cast<Index>(chosen.size())),
                    VectorXd(static_cast<Index>(chosen.size()))};
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto row = prepared(model.inputs, samples, chosen[i]);
        const auto at = static_cast<Index>(i);
        result.rows.col(at) = Eigen::Map<const VectorXd>(row.data(), static_cast<Index>(row.size()));
        result.targets[at] = (targets[chosen[i]] - model.target.mean) / model.target.scale;
    }
    return result;
}

/// Rows for training, and rows that say when to stop (none without a share for them).
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> split(const PerceptronSettings& settings,
                                                                    std::size_t rows) {
    std::pair<std::vector<std::size_t>, std::vector<std::size_t>> parts;
    std::vector<std::size_t> fold_of(rows, 1);
    if (settings.held_out > 0) {
        const auto folds = std::max<std::size_t>(2, static_cast<std::size_t>(std::lround(1 / settings.held_out)));
        fold_of = settings.groups.empty() ? random_folds(rows, folds, settings.seed)
                                          : group_folds(settings.groups, folds, settings.seed);
    }
    for (std::size_t row = 0; row < rows; ++row) (fold_of[row] == 0 ? parts.second : parts.first).push_back(row);
    if (parts.first.empty()) std::swap(parts.first, parts.second);  // all rows are one group
    return parts;
}

class Training {
  public:
    Training(std::vector<Place> places, const PerceptronSettings& settings, Prepared rows, Prepared stopping)
        : places_(std::move(places)),
          settings_(settings),
          rows_(std::move(rows)),
          stopping_(std::move(stopping)),
          random_(settings.seed),
          parameters_(first_parameters(places_, random_)),
          adam_(parameters_.size(), settings.learning_rate) {}

    VectorXd run() {
        constexpr double tolerance = 1e-4;
        double best = -std::numeric_limits<double>::infinity();
        VectorXd kept = parameters_;
        std::size_t idle = 0;
        for (std::size_t epoch = 0; epoch < settings_.epochs && idle <= settings_.patience; ++epoch) {
            const double loss = run_epoch();
            const double score = stopping_.targets.size() == 0 ? -loss : score_of(stopping_);
            idle = score > best + tolerance ? 0 : idle + 1;
            if (score > best) {
                best = score;
                kept = parameters_;
            }
        }
        return kept;
    }

  private:
    double run_epoch() {
        std::vector<Index> order(static_cast<std::size_t>(rows_.targets.size()));
        std::iota(order.begin(), order.end(), Index{0});
        shuffle(order, random_);
        const std::size_t batch = std::max<std::size_t>(1, std::min(settings_.batch, order.size()));
        double sum = 0;
        VectorXd gradient;
        for (std::size_t begin = 0; begin < order.size(); begin += batch) {
            const std::vector<Index> chosen(
                order.begin() + static_cast<std::ptrdiff_t>(begin),
                order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), begin + batch)));
            sum += static_cast<double>(chosen.size()) *
                   loss_and_gradient(places_, parameters_, rows_.rows(Eigen::all, chosen), rows_.targets(chosen),
                                     settings_.alpha, gradient);
            adam_.step(parameters_, gradient);
        }
        return sum / static_cast<double>(order.size());
    }

    /// Minus the squared error over the variance: R² but for a constant.
    double score_of(const Prepared& part) const {
        const MatrixXd said = forward(places_, parameters_, part.rows).back();
        const double mean = part.targets.mean();
        const double total = (part.targets.array() - mean).square().sum();
        const double residual = (said.transpose() - part.targets).squaredNorm();
        return -residual / (total > 0 ? total : static_cast<double>(part.targets.size()));
    }

    std::vector<Place> places_;
    const PerceptronSettings& settings_;
    Prepared rows_;
    Prepared stopping_;
    Random random_;
    VectorXd parameters_;
    Adam adam_;
};

std::vector<PerceptronLayer> layers_of(const std::vector<Place>& places, const VectorXd& parameters) {
    std::vector<PerceptronLayer> layers;
    for (const Place& place : places) {
        PerceptronLayer layer{
            static_cast<std::uint32_t>(place.inputs), static_cast<std::uint32_t>(place.outputs), {}, {}};
        for (Index i = place.weights; i < place.biases; ++i) layer.weights.push_back(static_cast<float>(parameters[i]));
        for (Index i = 0; i < place.outputs; ++i)
            layer.biases.push_back(static_cast<float>(parameters[place.biases + i]));
        layers.push_back(std::move(layer));
    }
    return layers;
}

}  // namespace

Perceptron fit_perceptron(const Samples& samples, std::span<const double> targets, const PerceptronSettings& settings) {
    Perceptron model;
    model.inputs = fit_standardisation(samples);
    model.target = target_scale(targets);
    std::vector<std::size_t> units{model.inputs.width()};
    units.insert(units.end(), settings.hidden.begin(), settings.hidden.end());
    units.push_back(1);
    if (std::find(units.begin(), units.end(), 0U) != units.end()) throw Error("a layer of a perceptron has no units");
    const auto [training, stopping] = split(settings, samples.rows());
    Training run(places_of(units), settings, part(model, samples, targets, training),
                 part(model, samples, targets, stopping));
    model.layers = layers_of(places_of(units), run.run());
    return model;
}

double predict(const Perceptron& model, std::span<const float> row) {
    std::vector<double> said = prepared(model.inputs, row);
    for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
        const PerceptronLayer& now = model.layers[layer];
        std::vector<double> sums(now.outputs);
        for (std::size_t output = 0; output < now.outputs; ++output) {
            double sum = static_cast<double>(now.biases[output]);
            const float* weight = now.weights.data() + output * now.inputs;
            for (std::size_t input = 0; input < now.inputs; ++input) {
                sum += static_cast<double>(weight[input]) * said[input];
            }
            sums[output] = layer + 1 < model.layers.size() ? std::max(0.0, sum) : sum;
        }
        said = std::move(sums);
    }
    return model.target.mean + model.target.scale * said.front();
}

void check(const Perceptron& model, std::size_t columns) {
    check(model.inputs, columns);
    check(model.target);
    const auto finite = [](float value) { return std::isfinite(value); };
    std::size_t units = model.inputs.width();
    for (const PerceptronLayer& layer : model.layers) {
        if (layer.inputs != units || layer.outputs == 0 || layer.biases.size() != layer.outputs ||
            layer.weights.size() != std::size_t{layer.inputs} * layer.outputs) {
            throw FormatError("the layers of a perceptron do not fit one another");
        }
        if (!std::all_of(layer.weights.begin(), layer.weights.end(), finite) ||
            !std::all_of(layer.biases.begin(), layer.biases.end(), finite)) {
            throw FormatError("a perceptron holds a number that is not finite");
        }
        units = layer.outputs;
    }
    if (model.layers.empty() || units != 1) throw FormatError("a perceptron does not end in one unit");
}

PerceptronLoss perceptron_loss(std::span<const std::size_t> units, std::span<const double> parameters,
                               std::span<const double> rows, std::span<const double> targets, double alpha) {
    const auto places = places_of(units);
    const auto count = static_cast<Index>(targets.size());
    const MatrixXd batch = Eigen::Map<const MatrixXd>(rows.data(), static_cast<Index>(units.front()), count);
    VectorXd gradient;
    PerceptronLoss result;
    result.loss =
        loss_and_gradient(places, Eigen::Map<const VectorXd>(parameters.data(), static_cast<Index>(parameters.size())),
                          batch, Eigen::Map<const VectorXd>(targets.data(), count), alpha, gradient);
    result.gradient.assign(gradient.begin(), gradient.end());
    return result;
}

}  // namespace joulecast
