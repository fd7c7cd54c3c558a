#include "joulecast/graph/readers/pt2_symbols.h"

#include <algorithm>
#include <limits>

#include "joulecast/error.h"

namespace joulecast::pt2 {

Symbols::Symbols(const Program& program, const std::vector<std::pair<std::string, std::string>>& names,
                 const SymbolValues& given)
    : program_(program) {
    find_symbols();
    choose_names(names);
    choose_values(given);
}

const Expression& Symbols::parsed(const std::string& text) {
    const auto found = parsed_.find(text);
    if (found != parsed_.end()) return found->second;
    Expression expression = Expression::parse(text);
    for (const auto& [symbol, name] : names_) expression = expression.renamed(symbol, name);
    return parsed_.emplace(text, std::move(expression)).first->second;
}

void Symbols::take_hint(const Integer& integer) {
    if (integer.form != Integer::Form::expression) return;
    const auto symbols = parsed(integer.text).symbols();
    for (const std::string& symbol : symbols) hints_.try_emplace(symbol);
    if (symbols.size() != 1 || !integer.value) return;
    auto& hint = hints_[*symbols.begin()];
    const Expression& expression = parsed(integer.text);
    const bool is_bare = expression.text() == *symbols.begin();
    if (hint || (!is_bare && searches_left_ == 0)) return;
    // Most hints stand beside the bare symbol; in "2*s0" with hint 8 the value is searched.
    constexpr std::int64_t most_tried = 4096;
    if (!is_bare) --searches_left_;
    const std::int64_t first = is_bare ? *integer.value : 0;
    for (std::int64_t value = first; value <= std::max(first, most_tried); ++value) {
        try {
            if (expression.evaluate({{*symbols.begin(), value}}) != *integer.value) continue;
        } catch (const FormatError&) {
            continue;  // a division by zero at this value
        }
        hint = value;
        return;
    }
}

void Symbols::find_symbols() {
    const auto each = [this](const auto& take) {
        for (const auto& [name, tensor] : program_.tensors) {
            for (const Integer& size : tensor.sizes) take(size);
            for (const Integer& stride : tensor.strides.value_or(std::vector<Integer>{})) take(stride);
        }
        for (const auto& [name, integer] : program_.integers) take(integer);
    };
    // Bare symbols first: their hints need no search.
    each([this](const Integer& integer) {
        if (integer.form != Integer::Form::expression) return;
        const Expression& expression = parsed(integer.text);
        if (expression.symbols().contains(expression.text())) take_hint(integer);
    });
    each([this](const Integer& integer) { take_hint(integer); });
}

bool Symbols::leads_a_user_input(const std::string& symbol) {
    for (const Argument& input : program_.inputs) {
        const auto* name = std::get_if<TensorName>(&input.value);
        if (name == nullptr || !*name || program_.input_specs.contains(**name)) continue;
        const auto found = program_.tensors.find(**name);
        if (found == program_.tensors.end() || found->second.sizes.empty()) continue;
        const Integer& first = found->second.sizes[0];
        if (first.form == Integer::Form::expression && parsed(first.text).text() == symbol) return true;
    }
    return false;
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
        return hints_.contains(name) || std::ranges::any_of(names_, [&](const auto& n) { return n.second == name; });
    };
    for (const auto& [symbol, name] : names) {
        if (!hints_.contains(symbol)) continue;
        if (!is_identifier(name) || taken(name))
            throw FormatError("extra/joulecast.json calls symbol " + symbol + " \"" + name.substr(0, 64) +
                              "\", which is no free name");
        names_[symbol] = name;
    }
    if (names.empty() && hints_.size() == 1 && leads_a_user_input(hints_.begin()->first))
        names_[hints_.begin()->first] = "batch";
    parsed_.clear();  // from here on with the chosen names
}

void Symbols::choose_values(const SymbolValues& given) {
    for (const auto& [symbol, hint] : hints_) {
        const auto renamed = names_.find(symbol);
        const std::string& name = renamed == names_.end() ? symbol : renamed->second;
        Symbol chosen;
        const auto set = given.find(name);
        if (hint) {
            chosen.value = *hint;
        } else if (set != given.end()) {
            chosen.value = set->second;
        } else {
            throw FormatError("the size " + name + " has no value in the file: it depends on data or was exported " +
                              "without an example. Set it, for example --set " + name + "=8");
        }
        const auto range = program_.ranges.find(symbol);
        if (range != program_.ranges.end()) {
            chosen.low = std::max<std::int64_t>(0, range->second.low.value_or(0));
            chosen.high = range->second.high.value_or(std::numeric_limits<std::int64_t>::max());
        }
        chosen_[name] = chosen;
        values_[name] = chosen.value;
    }
}

std::pair<std::int64_t, std::optional<Expression>> Symbols::resolve(const Integer& integer) {
    switch (integer.form) {
        case Integer::Form::number:
            return {*integer.value, std::nullopt};
        case Integer::Form::expression: {
            const Expression& expression = parsed(integer.text);
            const std::int64_t value = expression.evaluate(values_);
            return {value, expression.is_constant() ? std::nullopt : std::optional(expression)};
        }
        case Integer::Form::name:
            break;
    }
    const auto found = program_.integers.find(integer.text);
    if (found == program_.integers.end() || found->second.form == Integer::Form::name)
        throw FormatError("the size \"" + integer.text + "\" is not among sym_int_values");
    return resolve(found->second);
}

}  // namespace joulecast::pt2
