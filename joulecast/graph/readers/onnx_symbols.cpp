#include "joulecast/graph/readers/onnx_symbols.h"

#include <algorithm>
#include <set>

#include "joulecast/error.h"

namespace joulecast::onnx {

namespace {

/// Exporters write expressions in sympy's form: operators with spaces around, calls, products and quotients. Anything
/// else is a name, whatever is in it.
bool is_expression(const std::string& parameter) {
    if (parameter.find_first_of("*/(") != std::string::npos) return true;
    return parameter.find(" + ") != std::string::npos || parameter.find(" - ") != std::string::npos;
}

void add_symbols(const ValueInfo& info, bool is_input, std::map<std::string, std::string>& places) {
    if (!info.shape) return;
    for (std::size_t i = 0; i < info.shape->size(); ++i) {
        const Dimension& dimension = (*info.shape)[i];
        if (dimension.value || dimension.parameter.empty()) continue;
        for (const std::string& symbol : Symbols::expression_of(dimension.parameter).symbols()) {
            std::string& place = places[symbol];
            if (is_input && place.empty()) place = "dimension " + std::to_string(i) + " of input \"" + info.name + "\"";
        }
    }
}

}  // namespace

Expression Symbols::expression_of(const std::string& parameter) {
    if (is_expression(parameter)) {
        try {
            return Expression::parse(parameter);
        } catch (const FormatError&) {
            return Expression::symbol(parameter);
        }
    }
    return Expression::symbol(parameter);
}

Symbols::Symbols(const Body& graph) {
    for (const ValueInfo& input : graph.inputs) add_symbols(input, true, places_);
    for (const ValueInfo& output : graph.outputs) add_symbols(output, false, places_);
    for (const auto& [name, info] : graph.value_infos) add_symbols(info, false, places_);
}

void Symbols::refuse(const std::string& name) const {
    std::string names;
    for (const auto& [symbol, place] : places_)
        if (!place.empty()) names += (names.empty() ? "" : ", ") + symbol;
    throw Error("the model has no symbol " + name + "; it has " + (names.empty() ? "none" : names));
}

std::map<std::string, Symbol> Symbols::chosen(const SymbolValues& given, std::set<std::string>& unclaimed) const {
    for (const auto& [name, value] : given) {
        const bool is_number = !places_.contains(name) && name.find("_value_") != std::string::npos;
        if (value < 0 && !is_number) throw Error("symbol " + name + " cannot be negative");
        if (places_.contains(name)) continue;
        if (!is_number && name.find("_dim_") == std::string::npos) refuse(name);
        unclaimed.insert(name);
    }
    std::map<std::string, Symbol> result;
    std::string missing;
    std::string options;
    for (const auto& [symbol, place] : places_) {
        const auto found = given.find(symbol);
        if (found != given.end()) {
            result[symbol].value = found->second;
        } else if (!place.empty()) {
            missing += (missing.empty() ? "" : ", ") + symbol + " (" + place + ")";
            options += " --set " + symbol + "=8";
        }
    }
    if (!missing.empty())
        throw FormatError("the file leaves sizes open: " + missing + ". Give them values, for example" + options);
    return result;
}

std::optional<std::int64_t> Symbols::size_of(const Dimension& dimension, const SymbolValues& values) {
    if (dimension.value) return dimension.value;
    if (dimension.parameter.empty()) return std::nullopt;
    return expression_of(dimension.parameter).evaluate(values);
}

void name_unknown_dimensions(Body& graph) {
    for (ValueInfo& input : graph.inputs) {
        if (!input.shape) continue;
        for (std::size_t i = 0; i < input.shape->size(); ++i) {
            Dimension& dimension = (*input.shape)[i];
            // Older writers of TensorFlow graphs say -1.
            if (dimension.value && *dimension.value >= 0) continue;
            if (!dimension.value && !dimension.parameter.empty()) continue;
            dimension.value.reset();
            dimension.parameter = input.name + "_dim_" + std::to_string(i);
        }
    }
}

}  // namespace joulecast::onnx
