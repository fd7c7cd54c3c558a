#pragma once

#include <gtest/gtest.h>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/memory.h"

namespace joulecast {

/// Everything but where the symbols stand, which the text form leaves out.
inline void expect_equal(const Graph& a, const Graph& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.has_edges, b.has_edges);
    EXPECT_EQ(a.outputs, b.outputs);
    ASSERT_EQ(a.inputs.size(), b.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
        EXPECT_EQ(a.inputs[i].name, b.inputs[i].name);
        EXPECT_EQ(a.inputs[i].kind, b.inputs[i].kind);
        EXPECT_EQ(a.inputs[i].type, b.inputs[i].type);
    }
    ASSERT_EQ(a.nodes.size(), b.nodes.size());
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
        EXPECT_EQ(a.nodes[i].operation, b.nodes[i].operation);
        EXPECT_EQ(a.nodes[i].inputs, b.nodes[i].inputs);
        EXPECT_EQ(a.nodes[i].outputs, b.nodes[i].outputs);
        EXPECT_EQ(a.nodes[i].module_path, b.nodes[i].module_path);
        EXPECT_EQ(a.nodes[i].source_line, b.nodes[i].source_line);
        EXPECT_EQ(a.nodes[i].count, b.nodes[i].count);
    }
}

/// Counts of every operation, and bytes of the memory plan.
inline void expect_same_costs(const Graph& a, const Graph& b) {
    const auto of_a = count_operations(a);
    const auto of_b = count_operations(b);
    ASSERT_EQ(of_a.size(), of_b.size());
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        EXPECT_EQ(signature(of_a[i].operation), signature(of_b[i].operation));
        EXPECT_EQ(of_a[i].count, of_b[i].count);
        EXPECT_EQ(total_counts(of_a[i].operation), total_counts(of_b[i].operation));
    }
    if (!a.has_edges || !b.has_edges) return;
    const auto plan_a = plan_memory(a);
    const auto plan_b = plan_memory(b);
    ASSERT_TRUE(plan_a && plan_b);
    EXPECT_EQ(plan_a->peak_bytes, plan_b->peak_bytes);
    EXPECT_EQ(plan_a->resident_bytes, plan_b->resident_bytes);
    EXPECT_EQ(plan_a->saved_bytes, plan_b->saved_bytes);
}

}  // namespace joulecast
