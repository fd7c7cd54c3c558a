#include "joulecast/graph/node_parts.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

std::size_t tensors_in(const Value& value) {
    if (std::holds_alternative<TensorType>(value)) return 1;
    const auto* list = std::get_if<TensorList>(&value);
    return list == nullptr ? 0 : static_cast<std::size_t>(std::ranges::count_if(*list, [](const auto& item) {
        return item.has_value();
    }));
}

}  // namespace

std::vector<NodePart> take_parts(Node& node) {
    using Place = SymbolicSize::Place;
    std::vector<NodePart> parts;
    /// By tensor of the operation: its part, and the position in it.
    std::vector<std::pair<std::size_t, std::int32_t>> places;
    for (Argument& argument : node.operation.arguments) {
        NodePart part{std::move(argument.name), std::move(argument.value), {}, {}};
        const std::size_t count = tensors_in(part.value);
        if (places.size() + count > node.inputs.size())
            throw FormatError("graph is inconsistent: " + node.operation.target + " has fewer edges than tensors");
        for (std::size_t i = 0; i < count; ++i) {
            part.edges.push_back(node.inputs[places.size()]);
            places.emplace_back(parts.size(), static_cast<std::int32_t>(i));
        }
        parts.push_back(std::move(part));
    }
    std::vector<SymbolicSize> of_outputs;
    for (SymbolicSize& size : node.symbolic) {
        const auto index = static_cast<std::size_t>(size.index);
        if (size.place == Place::output_tensor || size.place == Place::output_stride) {
            of_outputs.push_back(std::move(size));
        } else if (size.place == Place::argument) {
            size.index = 0;
            parts.at(index).symbolic.push_back(std::move(size));
        } else {
            size.index = places.at(index).second;
            parts.at(places.at(index).first).symbolic.push_back(std::move(size));
        }
    }
    node.operation.arguments.clear();
    node.inputs.clear();
    node.symbolic = std::move(of_outputs);
    return parts;
}

void assemble(Node& node, std::vector<NodePart> parts) {
    for (const NodePart& part : parts) node.operation.arguments.push_back({part.name, part.value});
    Operation brief = canonical(node.operation);
    // A symbolic size that happens to equal the default at export must stay.
    const bool keeps_symbols = std::ranges::all_of(parts, [&](const NodePart& part) {
        return part.symbolic.empty() || find_argument(brief, part.name) != nullptr;
    });
    if (keeps_symbols) node.operation = std::move(brief);
    for (std::size_t i = 0; i < node.operation.arguments.size(); ++i) {
        NodePart& part = *find_part(parts, node.operation.arguments[i].name);
        for (SymbolicSize& size : part.symbolic) {
            const bool is_tensor = size.place != SymbolicSize::Place::argument;
            size.index =
                static_cast<std::int32_t>(is_tensor ? node.inputs.size() + static_cast<std::size_t>(size.index) : i);
            node.symbolic.push_back(std::move(size));
        }
        node.inputs.insert(node.inputs.end(), part.edges.begin(), part.edges.end());
    }
}

NodePart* find_part(std::vector<NodePart>& parts, std::string_view name) {
    const auto found = std::ranges::find(parts, name, &NodePart::name);
    return found == parts.end() ? nullptr : &*found;
}

}  // namespace joulecast
