#include "joulecast/graph/readers/pt2_symbols.h"

#include <algorithm>
#include <limits>

#include "joulecast/error.h"
#include "joulecast/graph/readers/pt2_terms.h"

namespace joulecast::pt2 {

Symbols::Symbols(const Program& program, const std::vector<std::pair<std::string, std::string>>& names,
                 const SymbolValues& given)
    : program_(program) {
    find_symbols(program.main);
    take_hints();
    find_places();
    choose_names(names);
    choose_values(given);
}

Symbols::Size& Symbols::size_of(const Integer& integer) {
    const auto [place, is_new] = sizes_.try_emplace(integer.text);
    Size& size = place->second;
    if (!is_new) return size;
    try {
        size.expression = Expression::parse(integer.text);
    } catch (...) {
        sizes_.erase(place);
        throw;
    }
    const auto symbols = size.expression.symbols();
    size.symbols.assign(symbols.begin(), symbols.end());
    size.hint = integer.value;
    // Read after the names were chosen: an argument that no tensor shares its size with.
    for (const auto& [symbol, name] : names_) size.expression = size.expression.renamed(symbol, name);
    return size;
}

void Symbols::find_symbols(const Body& body) {
    const auto take = [this](const Integer& integer) {
        if (integer.form != Integer::Form::expression) return;
        for (const std::string& symbol : size_of(integer).symbols) found_.try_emplace(symbol);
    };
    const auto take_all = [&](const auto& integers) {
        for (const Integer& integer : integers) take(integer);
    };
    for (const auto& [name, tensor] : body.tensors) {
        take_all(tensor.sizes);
        if (tensor.strides) take_all(*tensor.strides);
    }
    for (const auto& [name, integer] : body.integers) take(integer);
    for (const Node& node : body.nodes)
        for (const Argument& argument : node.inputs)
            if (const auto* subgraph = std::get_if<Subgraph>(&argument.value)) find_symbols(*subgraph->body);
}

/// The smallest value at which the expression is `hint`: most hints stand beside the bare symbol, in "2*s0" with hint 8
/// the value is searched.
std::optional<std::int64_t> solution(const Expression& expression, const std::string& symbol, std::int64_t hint) {
    constexpr std::int64_t most_tried = 4096;
    for (std::int64_t value = 0; value <= most_tried; ++value) {
        try {
            if (expression.evaluate({{symbol, value}}) == hint) return value;
        } catch (const FormatError&) {
            continue;  // a division by zero at this value
        }
    }
    return std::nullopt;
}

void Symbols::take_hints() {
    for (const auto& [text, size] : sizes_)
        if (size.symbols.size() == 1 && size.hint && size.expression.text() == size.symbols[0])
            found_.at(size.symbols[0]).hint = size.hint;
    // A hostile file must not buy a search with every size.
    int searches_left = 64;
    for (const auto& [text, size] : sizes_) {
        if (size.symbols.size() != 1 || !size.hint || searches_left == 0) continue;
        Found& found = found_.at(size.symbols[0]);
        if (found.hint) continue;
        --searches_left;
        found.hint = solution(size.expression, size.symbols[0], *size.hint);
    }
}

/// True if the output's sizes, or the integer that it is, have the symbol in them.
bool Symbols::holds(const Argument& output, const Body& body, const std::string& symbol) {
    const auto in = [&](const Integer& integer) {
        if (integer.form != Integer::Form::expression) return false;
        const auto& symbols = size_of(integer).symbols;
        return std::ranges::find(symbols, symbol) != symbols.end();
    };
    const auto in_tensor = [&](const TensorName& name) {
        const auto tensor = name ? body.tensors.find(*name) : body.tensors.end();
        return tensor != body.tensors.end() && std::ranges::any_of(tensor->second.sizes, in);
    };
    if (const auto* name = std::get_if<TensorName>(&output.value)) return in_tensor(*name);
    if (const auto* list = std::get_if<std::vector<TensorName>>(&output.value))
        return std::ranges::any_of(*list, in_tensor);
    const auto* integer = std::get_if<Integer>(&output.value);
    if (integer == nullptr || integer->form != Integer::Form::name) return false;
    const auto value = body.integers.find(integer->text);
    return value != body.integers.end() && in(value->second);
}

/// "node 12 (aten::nonzero)": the first whose result has the symbol.
std::string Symbols::maker_of(const std::string& symbol, const Body& body) {
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
        const Node& node = body.nodes[i];
        if (std::ranges::any_of(node.outputs, [&](const Argument& output) { return holds(output, body, symbol); })) {
            const std::string module_path = module_path_of(node.nn_module_stack);
            return "node " + std::to_string(i) + " (" + target_of(node.target) +
                   (module_path.empty() ? "" : " of " + shown(module_path)) + ")";
        }
    }
    return {};
}

void Symbols::find_places() {
    for (const Argument& input : program_.main.inputs) {
        const auto see = [&](const Integer& integer, const std::string& place, bool leads) {
            if (integer.form != Integer::Form::expression) return;
            const Size& size = size_of(integer);
            const bool is_bare = size.symbols.size() == 1 && size.expression.text() == size.symbols[0];
            for (const std::string& symbol : size.symbols) {
                Found& found = found_.at(symbol);
                found.leads = found.leads || (leads && is_bare);
                if (found.place.empty()) found.place = place + (is_bare ? "" : ", as " + size.expression.text());
            }
        };
        if (const auto* name = std::get_if<TensorName>(&input.value); name != nullptr && *name) {
            const auto tensor = program_.main.tensors.find(**name);
            if (program_.input_specs.contains(**name) || tensor == program_.main.tensors.end()) continue;
            for (std::size_t i = 0; i < tensor->second.sizes.size(); ++i)
                see(tensor->second.sizes[i], "dimension " + std::to_string(i) + " of input " + shown(**name), i == 0);
        } else if (const auto* integer = std::get_if<Integer>(&input.value);
                   integer != nullptr && integer->form == Integer::Form::name) {
            const auto value = program_.main.integers.find(integer->text);
            if (value != program_.main.integers.end()) see(value->second, "input " + shown(integer->text), false);
        }
    }
    for (auto& [symbol, found] : found_)
        if (found.place.empty())
            if (const std::string maker = maker_of(symbol, program_.main); !maker.empty())
                found.place = "made by " + maker;
}

void Symbols::choose_names(const std::vector<std::pair<std::string, std::string>>& names) {
    const auto is_identifier = [](const std::string& name) {
        constexpr std::size_t longest_name = 64;
        const auto is_word = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        };
        return !name.empty() && name.size() <= longest_name && !(name[0] >= '0' && name[0] <= '9') &&
               std::ranges::all_of(name, is_word);
    };
    const auto taken = [this](const std::string& name) {
        return found_.contains(name) || std::ranges::any_of(names_, [&](const auto& n) { return n.second == name; });
    };
    for (const auto& [symbol, name] : names) {
        if (!found_.contains(symbol) || symbol == name) continue;
        if (!is_identifier(name) || taken(name))
            throw FormatError("extra/joulecast.json calls symbol " + symbol + " \"" + shown(name) +
                              "\", which is not a free name");
        names_[symbol] = name;
    }
    const auto leads = [](const auto& entry) { return entry.second.leads; };
    if (std::ranges::count_if(found_, leads) == 1 && !taken("batch"))
        names_.try_emplace(std::ranges::find_if(found_, leads)->first, "batch");
    for (auto& [text, size] : sizes_)
        for (const auto& [symbol, name] : names_)
            if (std::ranges::find(size.symbols, symbol) != size.symbols.end())
                size.expression = size.expression.renamed(symbol, name);
}

void Symbols::choose_values(const SymbolValues& given) {
    std::vector<std::string> missing;
    for (const auto& [symbol, found] : found_) {
        const auto renamed = names_.find(symbol);
        const std::string& name = renamed == names_.end() ? symbol : renamed->second;
        Symbol chosen;
        chosen.place = found.place;
        if (name != symbol) chosen.alias = symbol;
        auto set = given.find(name);
        if (set == given.end()) set = given.find(symbol);
        if (found.hint) {
            chosen.value = *found.hint;
        } else if (set != given.end()) {
            chosen.value = set->second;
        } else {
            missing.push_back(symbol);
        }
        const auto range = program_.ranges.find(symbol);
        if (range != program_.ranges.end()) {
            chosen.low = std::max<std::int64_t>(0, range->second.low.value_or(0));
            chosen.high = range->second.high.value_or(std::numeric_limits<std::int64_t>::max());
        }
        values_[name] = chosen.value;
        chosen_[name] = std::move(chosen);
    }
    if (!missing.empty()) ask_for(missing);
}

void Symbols::ask_for(const std::vector<std::string>& missing) {
    std::string sizes;
    std::string settings;
    for (const std::string& symbol : missing) {
        const auto renamed = names_.find(symbol);
        const std::string& name = renamed == names_.end() ? symbol : renamed->second;
        const Symbol& chosen = chosen_.at(name);
        constexpr std::int64_t example = 8;
        sizes += (sizes.empty() ? "the size " : "; the size ") + name + " has no value in the file" +
                 (chosen.place.empty() ? "" : " (" + chosen.place + ")");
        settings += " --set " + name + "=" + std::to_string(std::max(chosen.low, std::min(example, chosen.high)));
    }
    throw FormatError(sizes + ": it depends on data or was exported without an example. Set it, for example" +
                      settings);
}

std::pair<std::int64_t, std::optional<Expression>> Symbols::resolve(const Integer& integer, const Body& body) {
    if (integer.form == Integer::Form::number) return {*integer.value, std::nullopt};
    if (integer.form == Integer::Form::expression) {
        Size& size = size_of(integer);
        if (!size.value) size.value = size.expression.evaluate(values_);
        return {*size.value, size.symbols.empty() ? std::nullopt : std::optional(size.expression)};
    }
    const auto found = body.integers.find(integer.text);
    if (found == body.integers.end() || found->second.form == Integer::Form::name)
        throw FormatError("the size \"" + shown(integer.text) + "\" is not among sym_int_values");
    return resolve(found->second, body);
}

std::optional<std::pair<double, std::optional<Expression>>> Symbols::resolve(const NamedNumber& number,
                                                                             const Body& body) {
    const auto found = body.numbers.find(number.name);
    if (found == body.numbers.end()) return std::nullopt;
    if (found->second.value) return std::pair{*found->second.value, std::nullopt};
    try {
        Expression expression = Expression::parse(found->second.text);
        for (const auto& [symbol, name] : names_) expression = expression.renamed(symbol, name);
        const double value = expression.evaluate_real(values_);
        return std::pair{value, expression.is_constant() ? std::nullopt : std::optional(expression)};
    } catch (const Error&) {
        return std::nullopt;  // a function that sizes do not have (a square root), or a number that depends on data
    }
}

}  // namespace joulecast::pt2
