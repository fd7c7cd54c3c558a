#include <iostream>

#include "joulecast/graph/operation.h"
#include "joulecast/report/table.h"

int main() {
    const auto operation = joulecast::parse_operation("aten::relu(self=f32[8,64])");
    joulecast::Table table{{{"op", "op"}, {"tensors", "tensors", joulecast::Show::count}}, {}};
    table.rows.push_back({operation.target, static_cast<std::int64_t>(joulecast::tensors(operation).size())});
    std::cout << joulecast::to_csv(table);
}
