#include "joulecast/model/jcp_model.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "joulecast/model/forest_bytes.h"

namespace joulecast {
namespace {

/// The byte that says which model follows. Written to files: never renumbered.
enum class Kind : std::uint8_t { forest, boosted_trees, polynomial, neighbours, perceptron, support_vectors };

void put_numbers(ByteWriter& out, const std::vector<double>& numbers) {
    out.number(static_cast<std::uint32_t>(numbers.size()));
    for (const double number : numbers) out.real(number);
}

void put_numbers(ByteWriter& out, const std::vector<float>& numbers) {
    out.number(static_cast<std::uint32_t>(numbers.size()));
    for (const float number : numbers) out.real(number);
}

void put_numbers(ByteWriter& out, const std::vector<std::uint32_t>& numbers) {
    out.number(static_cast<std::uint32_t>(numbers.size()));
    for (const std::uint32_t number : numbers) out.number(number);
}

void take_numbers(ByteReader& in, std::vector<double>& numbers) {
    numbers.resize(in.count(8));
    for (double& number : numbers) number = in.real();
}

void take_numbers(ByteReader& in, std::vector<float>& numbers) {
    numbers.resize(in.count(4));
    for (float& number : numbers) number = in.short_real();
}

void take_numbers(ByteReader& in, std::vector<std::uint32_t>& numbers) {
    numbers.resize(in.count(4));
    for (std::uint32_t& number : numbers) number = in.number<std::uint32_t>();
}

void put_content(ByteWriter& out, const Forest& forest) {
    put(out, forest);
}

void put_content(ByteWriter& out, const BoostedTrees& model) {
    out.real(model.base);
    put(out, model.forest);
}

void put_standardisation(ByteWriter& out, const Standardisation& inputs) {
    put_numbers(out, inputs.means);
    put_numbers(out, inputs.scales);
    put_numbers(out, inputs.flagged);
}

Standardisation take_standardisation(ByteReader& in) {
    Standardisation inputs;
    take_numbers(in, inputs.means);
    take_numbers(in, inputs.scales);
    take_numbers(in, inputs.flagged);
    return inputs;
}

void put_content(ByteWriter& out, const Polynomial& model) {
    put_standardisation(out, model.inputs);
    out.real(model.intercept);
    put_numbers(out, model.weights);
    put_numbers(out, model.factors);
    put_numbers(out, model.product_weights);
}

Polynomial take_polynomial(ByteReader& in) {
    Polynomial model;
    model.inputs = take_standardisation(in);
    model.intercept = in.real();
    take_numbers(in, model.weights);
    take_numbers(in, model.factors);
    take_numbers(in, model.product_weights);
    return model;
}

void put_content(ByteWriter& out, const Neighbours& model) {
    put_standardisation(out, model.inputs);
    out.number(model.k);
    out.number(static_cast<std::uint8_t>(model.by_distance));
    put_numbers(out, model.points);
    put_numbers(out, model.targets);
}

Neighbours take_neighbours(ByteReader& in) {
    Neighbours model;
    model.inputs = take_standardisation(in);
    model.k = in.number<std::uint32_t>();
    const auto by_distance = in.number<std::uint8_t>();
    if (by_distance > 1) in.fail("a nearest-neighbour model weights in a way that is not known");
    model.by_distance = by_distance == 1;
    take_numbers(in, model.points);
    take_numbers(in, model.targets);
    return model;
}

void put_content(ByteWriter& out, const Perceptron& model) {
    put_standardisation(out, model.inputs);
    out.real(model.target.mean);
    out.real(model.target.scale);
    out.number(static_cast<std::uint32_t>(model.layers.size()));
    for (const PerceptronLayer& layer : model.layers) {
        out.number(layer.inputs);
        out.number(layer.outputs);
        put_numbers(out, layer.weights);
        put_numbers(out, layer.biases);
    }
}

Perceptron take_perceptron(ByteReader& in) {
    Perceptron model;
    model.inputs = take_standardisation(in);
    model.target.mean = in.real();
    model.target.scale = in.real();
    model.layers.resize(in.count(16));
    for (PerceptronLayer& layer : model.layers) {
        layer.inputs = in.number<std::uint32_t>();
        layer.outputs = in.number<std::uint32_t>();
        take_numbers(in, layer.weights);
        take_numbers(in, layer.biases);
    }
    return model;
}

void put_content(ByteWriter& out, const SupportVectors& model) {
    put_standardisation(out, model.inputs);
    for (const double value : {model.target.mean, model.target.scale, model.gamma, model.offset}) out.real(value);
    put_numbers(out, model.points);
    put_numbers(out, model.coefficients);
}

SupportVectors take_support_vectors(ByteReader& in) {
    SupportVectors model;
    model.inputs = take_standardisation(in);
    for (double* value : {&model.target.mean, &model.target.scale, &model.gamma, &model.offset}) *value = in.real();
    take_numbers(in, model.points);
    take_numbers(in, model.coefficients);
    return model;
}

Kind kind_of(const Model& model) {
    struct Kinds {
        Kind operator()(const Forest&) const { return Kind::forest; }
        Kind operator()(const BoostedTrees&) const { return Kind::boosted_trees; }
        Kind operator()(const Polynomial&) const { return Kind::polynomial; }
        Kind operator()(const Neighbours&) const { return Kind::neighbours; }
        Kind operator()(const Perceptron&) const { return Kind::perceptron; }
        Kind operator()(const SupportVectors&) const { return Kind::support_vectors; }
    };
    return std::visit(Kinds{}, model);
}

Model take_content(ByteReader& in, std::size_t columns, Kind kind) {
    switch (kind) {
        case Kind::forest:
            return take_forest(in, columns);
        case Kind::boosted_trees: {
            const double base = in.real();
            if (!std::isfinite(base)) in.fail("boosted trees stand on a number that is not finite");
            return BoostedTrees{base, take_forest(in, columns)};
        }
        case Kind::polynomial:
            return take_polynomial(in);
        case Kind::neighbours:
            return take_neighbours(in);
        case Kind::perceptron:
            return take_perceptron(in);
        case Kind::support_vectors:
            return take_support_vectors(in);
    }
    in.fail("a model is of a kind that is not known");
}

}  // namespace

void put(ByteWriter& out, const Model& model) {
    out.number(static_cast<std::uint8_t>(kind_of(model)));
    std::visit([&](const auto& learned) { put_content(out, learned); }, model);
}

Model take_model(ByteReader& in, std::size_t columns) {
    Model model = take_content(in, columns, static_cast<Kind>(in.number<std::uint8_t>()));
    // Trees, which are most of a file, were checked while they were read.
    const bool is_checked = std::holds_alternative<Forest>(model) || std::holds_alternative<BoostedTrees>(model);
    if (!is_checked) check(model, columns);
    return model;
}

}  // namespace joulecast
