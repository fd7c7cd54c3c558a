// Writes docs/onnx-operators.md from the reader's own table.
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "joulecast/graph/readers/onnx_ops.h"

namespace {

using joulecast::onnx::Row;

void print_names(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) std::cout << (i == 0 ? "" : ", ") << '`' << names[i] << '`';
    std::cout << ".\n";
}

void print_domain(const std::string& title, const std::vector<const Row*>& rows) {
    std::vector<std::string> translated;
    std::vector<std::string> named;
    for (const Row* row : rows) {
        std::vector<std::string>& names = row->is_named ? named : translated;
        if (names.empty() || names.back() != row->op_type) names.emplace_back(row->op_type);
    }
    std::cout << "\n## " << title << "\n\nTranslated to ATen (" << translated.size() << "): ";
    print_names(translated);
    if (named.empty()) return;
    std::cout << "\nSizes worked out, but named only, since no record has their cost (" << named.size() << "): ";
    print_names(named);
}

}  // namespace

int main() {
    std::cout
        << "# ONNX operators\n\n"
           "Written by `graph_print_onnx_operators` from the reader's table; do not edit.\n\n"
           "Operators are read as versions "
        << joulecast::onnx::oldest_tested << " to " << joulecast::onnx::newest_tested
        << " of ONNX's operator set describe them. Models of other versions are\n"
           "read with a note that says so. What only computes sizes (`Shape`, `Size`, and integer `Gather`, `Concat`,\n"
           "`Range`, `Where`, ...) is evaluated, and costs nothing. A named operator keeps its name\n"
           "(`onnx::NonZero`) and the bytes of its tensors; its FLOPs are not counted, and reports say so.\n";
    std::map<std::string, std::vector<const Row*>> domains;
    for (const Row* row : joulecast::onnx::all_rows()) domains[std::string(row->domain)].push_back(row);
    for (const auto& [domain, rows] : domains) print_domain(domain.empty() ? "ai.onnx" : domain, rows);
    std::cout << "\n## Named where the file tells the sizes of their outputs\n\n";
    std::vector<std::string> names;
    for (const std::string_view name : joulecast::onnx::untranslated()) names.emplace_back(name);
    print_names(names);
    std::cout
        << "\nThe same holds for operators of other domains. `If` with a known condition is its branch; functions in\n"
           "the file are written out.\n";
    return 0;
}
