// Products of tensors beside those of matrices in ops_matmul.cpp: einsum, tensordot, chains, outer and cross products.

#include <algorithm>
#include <array>
#include <map>

#include "joulecast/graph/reductions.h"

namespace joulecast::records {

namespace {

/// Letters of a subscript; '.' stands for each dimension of an ellipsis, counted from the last: '.' + 128 k.
using Label = int;
using Labels = std::vector<Label>;

constexpr std::size_t most_operands = 64;

/// One subscript of an equation: "bij", "...ij".
Labels labels_of(const Operation& operation, std::string_view text, std::size_t ellipsis) {
    Labels labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ') continue;
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter) {
            labels.push_back(c);
        } else if (text.substr(i, 3) == "...") {
            for (std::size_t k = ellipsis; k-- > 0;) labels.push_back('.' + 128 * static_cast<int>(k));
            i += 2;
        } else {
            refuse(operation, "the equation is not understood");
        }
    }
    return labels;
}

std::size_t letters(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c != ' ' && c != '.'; }));
}

/// A tensor of the contraction: its labels and the sizes of each.
struct Term {
    std::map<Label, std::int64_t> sizes;
    bool requires_grad = false;
};

struct Contraction {
    std::vector<Term> terms;
    Labels output;
    std::map<Label, std::int64_t> sizes;
};

std::vector<std::string_view> subscripts(const Operation& operation, std::string_view inputs) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = inputs.find(',');
        parts.push_back(inputs.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        inputs = inputs.substr(comma + 1);
        if (parts.size() > most_operands) refuse(operation, "there are more than 64 operands");
    }
}

/// Without "->": the ellipsis, then the letters that occur once, sorted.
Labels implied_output(const std::vector<Labels>& inputs) {
    std::map<Label, int> occurrences;
    for (const Labels& labels : inputs) {
        for (const Label label : labels) ++occurrences[label];
    }
    Labels ellipsis;
    Labels once;
    for (const auto& [label, count] : occurrences) {
        if (label % 128 == '.') {
            ellipsis.push_back(label);
        } else if (count == 1) {
            once.push_back(label);
        }
    }
    std::sort(ellipsis.rbegin(), ellipsis.rend());
    ellipsis.insert(ellipsis.end(), once.begin(), once.end());
    return ellipsis;
}

void join(const Operation& operation, std::map<Label, std::int64_t>& sizes, Label label, std::int64_t size) {
    const auto [place, is_new] = sizes.try_emplace(label, size);
    if (is_new || place->second == size) return;
    if (place->second != 1 && size != 1) refuse(operation, "the sizes of a letter differ");
    place->second = std::max(place->second, size);
}

Contraction read(const Operation& operation) {
    const auto equation = argument_or_default<std::string>(operation, "equation");
    const auto operands = tensor_list(operation, "tensors");
    const std::size_t arrow = equation.find("->");
    const std::string_view whole = equation;
    const auto inputs = subscripts(operation, whole.substr(0, arrow));
    if (operands.empty() || inputs.size() != operands.size()) refuse(operation, "equation and tensors do not fit");
    std::size_t longest_ellipsis = 0;
    std::vector<Labels> labels;
    Contraction result;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t named = letters(inputs[i]);
        const bool has_ellipsis = inputs[i].find('.') != std::string_view::npos;
        if (named > rank(*operands[i]) || (!has_ellipsis && named != rank(*operands[i]))) {
            refuse(operation, "a subscript has another number of dimensions than its tensor");
        }
        const std::size_t ellipsis = rank(*operands[i]) - named;
        longest_ellipsis = std::max(longest_ellipsis, ellipsis);
        labels.push_back(labels_of(operation, inputs[i], ellipsis));
        if (labels.back().size() != rank(*operands[i])) refuse(operation, "the equation is not understood");
        Term term{{}, operands[i]->requires_grad};
        for (std::size_t d = 0; d < labels.back().size(); ++d) {
            join(operation, term.sizes, labels.back()[d], operands[i]->sizes[d]);
            join(operation, result.sizes, labels.back()[d], operands[i]->sizes[d]);
        }
        result.terms.push_back(std::move(term));
    }
    result.output = arrow == std::string::npos ? implied_output(labels)
                                               : labels_of(operation, whole.substr(arrow + 2), longest_ellipsis);
    for (const Label label : result.output) {
        if (!result.sizes.contains(label)) refuse(operation, "the output has a letter that no tensor has");
    }
    return result;
}

Types einsum_outputs(const Operation& operation) {
    const Contraction call = read(operation);
    Sizes sizes;
    for (const Label label : call.output) sizes.push_back(call.sizes.at(label));
    return {make(promoted(operation, {"tensors"}), std::move(sizes))};
}

/// What one pair costs, and the gradients that flow back into it.
struct Work {
    std::int64_t flop = 0;
    std::int64_t other_flop = 0;
    std::int64_t backward_flop = 0;
    std::int64_t backward_other_flop = 0;
};

/// Two terms become one. Letters that neither the rest nor the output has are summed: where both have them that is a
/// batched matrix product (bmm), as torch does it; otherwise the sum comes first. No sum: an element-wise product.
Term contract(const Operation& operation, const Term& a, const Term& b, const std::vector<Term>& rest,
              const Labels& output, Work& work) {
    Term result{{}, a.requires_grad || b.requires_grad};
    Sizes multiplied;
    bool summed = false;
    const auto stays = [&](Label label) {
        return std::find(output.begin(), output.end(), label) != output.end() ||
               std::any_of(rest.begin(), rest.end(), [&](const Term& term) { return term.sizes.contains(label); });
    };
    std::map<Label, std::int64_t> sizes = a.sizes;
    for (const auto& [label, size] : b.sizes) join(operation, sizes, label, size);
    const auto size_in = [](const Term& term, Label label) {
        const auto found = term.sizes.find(label);
        return found == term.sizes.end() ? 1 : found->second;
    };
    for (const auto& [label, size] : sizes) {
        const bool in_both = size_in(a, label) != 1 && size_in(b, label) != 1;
        const bool kept = stays(label);
        if (kept) result.sizes[label] = size;
        if (kept || in_both) multiplied.push_back(size);
        summed = summed || (!kept && in_both);
    }
    const std::int64_t products = product(operation, multiplied);
    const std::int64_t gradients = (a.requires_grad ? 1 : 0) + (b.requires_grad ? 1 : 0);
    std::int64_t& forward = summed ? work.flop : work.other_flop;
    std::int64_t& backward = summed ? work.backward_flop : work.backward_other_flop;
    const std::int64_t cost = checked(operation, summed ? 2 : 1, products);
    forward = added(forward, cost);
    backward = added(backward, checked(operation, gradients, cost));
    return result;
}

/// Pairs in the order of `path`, where it is given (i, j, i, j, ...; the result goes to the end), else from the left.
Work work_of(const Operation& operation) {
    const Contraction call = read(operation);
    std::vector<Term> terms = call.terms;
    const auto path = optional_integers(operation, "path");
    Work work;
    if (terms.size() == 1) work.other_flop = element_count(first(operation));
    for (std::size_t step = 0; terms.size() > 1; ++step) {
        std::array<std::size_t, 2> pair{0, 1};
        for (std::size_t k = 0; path && k < 2; ++k) {
            if (2 * step + k >= path->size()) refuse(operation, "the path is too short");
            const std::int64_t index = (*path)[2 * step + k];
            if (index < 0 || index >= static_cast<std::int64_t>(terms.size()))
                refuse(operation, "the path leads outside");
            pair[k] = static_cast<std::size_t>(index);
        }
        if (pair[0] == pair[1]) refuse(operation, "the path takes a tensor twice");
        const Term a = terms[pair[0]];
        const Term b = terms[pair[1]];
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(pair[0], pair[1])));
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::min(pair[0], pair[1])));
        Term result = contract(operation, a, b, terms, call.output, work);
        terms.insert(path ? terms.end() : terms.begin(), std::move(result));
    }
    return work;
}

Counts einsum_forward(const Operation& operation) {
    const Work work = work_of(operation);
    return {work.flop, work.other_flop, input_bytes(operation), bytes(einsum_outputs(operation))};
}

Counts einsum_backward(const Operation& operation) {
    const Work work = work_of(operation);
    return {work.backward_flop, work.backward_other_flop,
            added(input_bytes(operation), bytes(einsum_outputs(operation))), gradient_bytes(operation)};
}

/// Each operand is kept for the others' gradients.
Indices saves_operands(const Operation& operation) {
    return tensors(operation).size() < 2 ? Indices{} : saves_all_operands(operation);
}

constexpr Row einsum(std::string_view schema) {
    return {schema, Family::matmul, &einsum_outputs, &einsum_forward, &einsum_backward, &saves_operands};
}

/// Sums over pairs of dimensions: what is left of self, then of other.
struct Pairing {
    Sizes output;
    std::int64_t summed = 1;
};

Pairing paired(const Operation& operation) {
    const TensorType& self = tensor(operation, "self");
    const TensorType& other = tensor(operation, "other");
    Sizes left{-1};
    Sizes right{-1};
    if (operation.target == "aten::tensordot") {
        left = integers(operation, "dims_self");
        right = integers(operation, "dims_other");
    } else if (rank(self) == 0 || rank(other) == 0) {
        return {rank(self) == 0 ? other.sizes : self.sizes, 1};
    }
    if (left.size() != right.size()) refuse(operation, "the dimensions do not pair");
    Pairing result;
    std::vector<bool> in_left(rank(self), false);
    std::vector<bool> in_right(rank(other), false);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::size_t a = dimension(operation, left[i], rank(self));
        const std::size_t b = dimension(operation, right[i], rank(other));
        if (a >= rank(self) || b >= rank(other) || in_left[a] || in_right[b] || self.sizes[a] != other.sizes[b]) {
            refuse(operation, "the dimensions do not pair");
        }
        in_left[a] = in_right[b] = true;
        result.summed = checked(operation, result.summed, self.sizes[a]);
    }
    for (std::size_t i = 0; i < rank(self); ++i) {
        if (!in_left[i]) result.output.push_back(self.sizes[i]);
    }
    for (std::size_t i = 0; i < rank(other); ++i) {
        if (!in_right[i]) result.output.push_back(other.sizes[i]);
    }
    return result;
}

Types paired_outputs(const Operation& operation) {
    return {make(tensor(operation, "self").dtype, paired(operation).output)};
}

Counts paired_forward(const Operation& operation) {
    const Pairing call = paired(operation);
    const std::int64_t products = checked(operation, product(operation, call.output), call.summed);
    return {checked(operation, 2, products), 0, input_bytes(operation), bytes(paired_outputs(operation))};
}

Counts paired_backward(const Operation& operation) {
    const Counts forward = paired_forward(operation);
    std::int64_t gradients = 0;
    for (const TensorType* operand : tensors(operation)) gradients += operand->requires_grad ? 1 : 0;
    return {checked(operation, gradients, forward.flop), 0, added(forward.bytes_read, forward.bytes_written),
            gradient_bytes(operation)};
}

constexpr Row pairing(std::string_view schema) {
    return {schema, Family::matmul, &paired_outputs, &paired_forward, &paired_backward, &saves_other_operand};
}

/// A chain of matrices; vectors at its ends have one row or column. torch chooses the cheapest order for three and
/// more.
struct Chain {
    Sizes sizes;
    Sizes output;
};

Chain chain(const Operation& operation) {
    const std::string_view name = find_record(operation.target)->parameters.front().name;
    const auto links = tensor_list(operation, name);
    if (links.size() < 2 || links.size() > most_operands) refuse(operation, "a chain has 2 to 64 matrices");
    Chain result;
    for (std::size_t i = 0; i < links.size(); ++i) {
        Sizes sizes = links[i]->sizes;
        const bool is_end = i == 0 || i + 1 == links.size();
        if (sizes.size() == 1 && is_end) sizes.insert(i == 0 ? sizes.begin() : sizes.end(), 1);
        if (sizes.size() != 2) refuse(operation, "a link of the chain is not a matrix");
        if (i == 0) result.sizes.push_back(sizes[0]);
        if (result.sizes.back() != sizes[0]) refuse(operation, "inner sizes differ");
        result.sizes.push_back(sizes[1]);
    }
    if (rank(*links.front()) == 2) result.output.push_back(result.sizes.front());
    if (rank(*links.back()) == 2) result.output.push_back(result.sizes.back());
    return result;
}

Types chain_outputs(const Operation& operation) {
    return {make(first(operation).dtype, chain(operation).output)};
}

/// Multiply-adds of the cheapest order, by dynamic programming over the part from link i to link j.
Counts chain_forward(const Operation& operation) {
    const Sizes sizes = chain(operation).sizes;
    const std::size_t links = sizes.size() - 1;
    std::vector<std::vector<std::int64_t>> cost(links, std::vector<std::int64_t>(links, 0));
    for (std::size_t length = 2; length <= links; ++length) {
        for (std::size_t i = 0; i + length <= links; ++i) {
            const std::size_t j = i + length - 1;
            cost[i][j] = INT64_MAX;
            for (std::size_t k = i; k < j; ++k) {
                const std::int64_t joined = product(operation, {sizes[i], sizes[k + 1], sizes[j + 1]});
                cost[i][j] = std::min(cost[i][j], added(added(cost[i][k], cost[k + 1][j]), joined));
            }
        }
    }
    return {checked(operation, 2, cost[0][links - 1]), 0, input_bytes(operation), bytes(chain_outputs(operation))};
}

Counts chain_backward(const Operation& operation) {
    const Counts forward = chain_forward(operation);
    return {checked(operation, 2, forward.flop), 0, added(forward.bytes_read, forward.bytes_written),
            gradient_bytes(operation)};
}

constexpr Row chained(std::string_view schema) {
    return {schema, Family::matmul, &chain_outputs, &chain_forward, &chain_backward, &saves_all_operands};
}

/// Every element of one vector times every one of another.
Types outer_outputs(const Operation& operation) {
    const auto operands = tensors(operation);
    if (operands.size() < 2) refuse(operation, "two vectors are needed");
    const TensorType& left = *operands[operands.size() - 2];
    const TensorType& right = *operands.back();
    if (rank(left) != 1 || rank(right) != 1) refuse(operation, "an operand is not a vector");
    const Sizes sizes{left.sizes[0], right.sizes[0]};
    if (operands.size() == 3 && broadcast(operation, operands[0]->sizes, sizes) != sizes) {
        refuse(operation, "self does not fit");
    }
    return {make(left.dtype, sizes)};
}

/// Vectors of three along a dimension, broadcast; or summed products along it.
Types along_outputs(const Operation& operation) {
    Sizes sizes = broadcast_of_all(operation);
    const auto parameters = find_record(operation.target)->parameters;
    const bool is_cross = operation.target.ends_with("cross");
    const auto dim = optional_integer(operation, "dim");
    const std::size_t at = dim ? dimension(operation, *dim, sizes.size()) : 0;
    if (at >= sizes.size() || (is_cross && dim && sizes[at] != 3)) refuse(operation, "the dimension does not fit");
    if (!is_cross) sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    return {make(promoted(operation, {parameters[0].name, parameters[1].name}), std::move(sizes))};
}

Types kronecker_outputs(const Operation& operation) {
    Sizes a = tensor(operation, "self").sizes;
    Sizes b = tensor(operation, "other").sizes;
    a.insert(a.begin(), b.size() > a.size() ? b.size() - a.size() : 0, 1);
    b.insert(b.begin(), a.size() > b.size() ? a.size() - b.size() : 0, 1);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = checked(operation, a[i], b[i]);
    return {make(promoted(operation, {"self", "other"}), std::move(a))};
}

Types dot_outputs(const Operation& operation) {
    const TensorType& self = tensor(operation, "self");
    if (rank(self) != 1 || tensor(operation, "other").sizes != self.sizes) refuse(operation, "the vectors do not fit");
    return {make(self.dtype, {})};
}

/// Distances between all rows of two matrices; the p-norm takes a subtraction, a power and a sum for each element.
Types distances_outputs(const Operation& operation) {
    const TensorType& a = tensor(operation, "x1");
    const TensorType& b = tensor(operation, "x2");
    if (rank(a) < 2 || rank(b) < 2 || a.sizes.back() != b.sizes.back()) refuse(operation, "the rows do not fit");
    Sizes sizes =
        broadcast(operation, Sizes(a.sizes.begin(), a.sizes.end() - 2), Sizes(b.sizes.begin(), b.sizes.end() - 2));
    sizes.insert(sizes.end(), {a.sizes[rank(a) - 2], b.sizes[rank(b) - 2]});
    return {make(a.dtype, std::move(sizes))};
}

Counts distances_forward(const Operation& operation) {
    const Types output = distances_outputs(operation);
    const std::int64_t compared = checked(operation, elements(output), tensor(operation, "x1").sizes.back());
    return {0, checked(operation, 3, compared), input_bytes(operation), bytes(output)};
}

Counts distances_backward(const Operation& operation) {
    const Counts forward = distances_forward(operation);
    return {0, checked(operation, 2, forward.other_flop), added(forward.bytes_read, 2 * forward.bytes_written),
            gradient_bytes(operation)};
}

Indices saves_operands_and_output(const Operation& operation) {
    Indices kept = saves_all_operands(operation);
    kept.push_back(static_cast<std::int32_t>(kept.size()));
    return kept;
}

constexpr Row distances(std::string_view schema) {
    return {schema,
            Family::reduction,
            &distances_outputs,
            &distances_forward,
            &distances_backward,
            &saves_operands_and_output};
}

/// x1 A x2 for every output element; torch's counter does not see these products.
Types bilinear_outputs(const Operation& operation) {
    const TensorType& a = tensor(operation, "input1");
    const TensorType& b = tensor(operation, "input2");
    const TensorType& weight = tensor(operation, "weight");
    if (rank(weight) != 3 || rank(a) < 1 || rank(a) != rank(b) || a.sizes.back() != weight.sizes[1] ||
        b.sizes.back() != weight.sizes[2] || !std::equal(a.sizes.begin(), a.sizes.end() - 1, b.sizes.begin())) {
        refuse(operation, "inputs and weight do not fit");
    }
    Sizes sizes = a.sizes;
    sizes.back() = weight.sizes[0];
    return {make(a.dtype, std::move(sizes))};
}

Counts bilinear_forward(const Operation& operation) {
    const Types output = bilinear_outputs(operation);
    const TensorType& weight = tensor(operation, "weight");
    const std::int64_t per_element = checked(operation, 3, checked(operation, weight.sizes[1], weight.sizes[2]));
    return {0, checked(operation, per_element, elements(output)), input_bytes(operation), bytes(output)};
}

Counts bilinear_backward(const Operation& operation) {
    const Counts forward = bilinear_forward(operation);
    return {0, checked(operation, 3, forward.other_flop), added(forward.bytes_read, forward.bytes_written),
            gradient_bytes(operation)};
}

constexpr Row bilinear(std::string_view schema) {
    return {schema, Family::matmul, &bilinear_outputs, &bilinear_forward, &bilinear_backward, &saves_all_operands};
}

/// Three tensors given dimensions of one at the places named, multiplied, and summed over some dimensions.
Sizes expanded_at(const Operation& operation, std::string_view name, std::string_view places) {
    Sizes sizes = tensor(operation, name).sizes;
    Sizes at = integers(operation, places);
    std::sort(at.begin(), at.end());
    for (const std::int64_t place : at) {
        if (place < 0 || place > static_cast<std::int64_t>(sizes.size())) refuse(operation, "a place is out of range");
        sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(place), 1);
    }
    return sizes;
}

Sizes trilinear_sizes(const Operation& operation) {
    const Sizes a = expanded_at(operation, "i1", "expand1");
    const Sizes b = expanded_at(operation, "i2", "expand2");
    return broadcast(operation, broadcast(operation, a, b), expanded_at(operation, "i3", "expand3"));
}

Types trilinear_outputs(const Operation& operation) {
    const Sizes whole = trilinear_sizes(operation);
    std::vector<bool> summed(whole.size(), false);
    for (const std::int64_t dim : integers(operation, "sumdim")) {
        const std::size_t at = dimension(operation, dim, whole.size());
        if (at < summed.size()) summed[at] = true;
    }
    Sizes sizes;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (!summed[i]) sizes.push_back(whole[i]);
    }
    return {make(first(operation).dtype, std::move(sizes))};
}

Counts trilinear_forward(const Operation& operation) {
    return {0, checked(operation, 3, product(operation, trilinear_sizes(operation))), input_bytes(operation),
            bytes(trilinear_outputs(operation))};
}

Counts trilinear_backward(const Operation& operation) {
    const Counts forward = trilinear_forward(operation);
    return {0, checked(operation, 3, forward.other_flop), added(forward.bytes_read, forward.bytes_written),
            gradient_bytes(operation)};
}

constexpr Row trilinear(std::string_view schema) {
    return {schema, Family::matmul, &trilinear_outputs, &trilinear_forward, &trilinear_backward, &saves_all_operands};
}

constexpr std::array rows{
    cast(lowered, einsum("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")),
    cast(lowered_or_promoted,
         pairing("aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")),
    pairing("aten::inner(Tensor self, Tensor other) -> Tensor"),
    cast(lowered_on_gpu, chained("aten::linalg_multi_dot(Tensor[] tensors) -> Tensor")),
    cast(lowered_on_gpu, chained("aten::chain_matmul(Tensor[] matrices) -> Tensor")),
    keeping<&outer_outputs, 1>("aten::outer(Tensor self, Tensor vec2) -> Tensor"),
    keeping<&outer_outputs, 1>("aten::ger(Tensor self, Tensor vec2) -> Tensor"),
    cast(lowered_on_gpu,
         keeping<&outer_outputs, 2>(
             "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")),
    cast(promoted_on_gpu,
         keeping<&along_outputs, 3>("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor")),
    keeping<&along_outputs, 3>("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor"),
    cast(lowered,
         reduction_of_all<&along_outputs, 2>("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor")),
    cast(promoted_on_gpu, reduction_of_all<&dot_outputs, 2>("aten::vdot(Tensor self, Tensor other) -> Tensor")),
    keeping<&kronecker_outputs, 1>("aten::kron(Tensor self, Tensor other) -> Tensor"),
    cast(f32_everywhere, distances("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor")),
    distances("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor"),
    distances("aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor"),
    cast(promoted_on_gpu,
         bilinear("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")),
    trilinear("aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] "
              "sumdim, int unroll_dim=1) -> Tensor"),
};

}  // namespace

std::span<const Row> contraction_rows() {
    return rows;
}

}  // namespace joulecast::records
