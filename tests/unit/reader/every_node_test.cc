// SPDX-License-Identifier: Apache-2.0
// A tree that no program gives: one statement of every kind, one expression of every kind and
// operation, and in each struct no member at its default. The nodes say all of it, also what the
// text of trees leaves out.
#include <gtest/gtest.h>

#include "print_nodes.h"
#include "stria/base/status.h"
#include "stria/reader/tree_nodes.h"
#include "stria/semtree/tree/expr.h"
#include "stria/semtree/tree/print.h"

namespace stria::reader {
namespace {

using namespace semtree;

constexpr Type kInt{DataType::i64, 1}, kFloat{DataType::fp32, 1}, kFloats{DataType::fp32, 4};
constexpr int kOperations = static_cast<int>(Op::select) + 1;

ExprRef made(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }
ExprRef var(int number, Type type) { return variable(number, type); }

Place some_place(int memory) {
  Place out;
  out.memory = memory;
  out.offset = binary(Op::mul, var(0, kInt), integer(DataType::i64, 8));
  out.constant = -3;
  out.lanes = 4;
  out.stride = 2;
  out.multiple = 8;
  out.mask = binary(Op::lt, iota(DataType::i64, 4), var(0, kInt));
  out.exists = true;
  return out;
}
Place one_element(int memory) {
  Place out;
  out.memory = memory;
  out.constant = 7;
  return out;
}

// P, Q | S (shared), V (overlaid), R (registers), F, G, H (fragments)
Function everything() {
  Function out;
  out.name = "all";
  out.index_type = DataType::i64;
  out.params = {{"P", DataType::fp32, true, true, 640, 3, true},
                {"Q", DataType::u8, true, false, 64, 4, false}};
  out.arrays = {{.name = "S", .count = 64, .shared = true, .aligned = true},
                {.name = "V", .count = 32, .shared = true, .overlaid = true},
                {.name = "R", .count = 8, .in_registers = true, .slot_lanes = 4},
                {.name = "F", .count = 2, .fragment = ArrayFragment{ArrayFragment::Use::sum, 8, 8}},
                {.name = "G",
                 .type = DataType::fp16,
                 .count = 1,
                 .fragment = ArrayFragment{ArrayFragment::Use::left, 8, 16}},
                {.name = "H",
                 .type = DataType::fp16,
                 .count = 1,
                 .fragment = ArrayFragment{ArrayFragment::Use::right, 16, 8}}};
  out.vars = {{"x", kInt}, {"g", kInt}, {"h", kInt}, {"lane", kInt}, {"v", kFloats}, {"i", kInt}};
  out.trip_count = 6;
  out.grid = {{1, 3}, {2, 2}};
  out.group_lanes = 32;
  out.lane_var = 3;
  out.notes = {"a note"};
  const auto let = [&](const ExprRef& value) {
    out.vars.push_back({fmt::format("e{}", out.vars.size()), value->type});
    out.body.push_back({Let{static_cast<int>(out.vars.size()) - 1, value}});
  };
  const ExprRef x = var(0, kInt), v = var(4, kFloats);
  out.body.push_back({Load{4, some_place(0), 96}});
  for (int number = 0; number < kOperations; ++number) {
    Expr e;
    e.kind = ExprKind::operation;
    e.op = static_cast<Op>(number);
    e.type = kInt;
    const int operands = number < static_cast<int>(Op::add)   ? 1
                         : number < static_cast<int>(Op::fma) ? 2
                                                              : 3;
    for (int i = 0; i < operands; ++i) e.args.push_back(i % 2 ? integer(DataType::i64, i) : x);
    let(made(std::move(e)));
  }
  let(exact(binary(Op::add, x, x)));
  let(binary(Op::add, v, v, true));
  let(constant(Scalar::of_float(DataType::fp16, 0.5), 4));
  let(constant(Scalar::of_float(DataType::fp64, -1e300)));
  let(constant(Scalar::of_int(DataType::u64, -1)));
  let(constant(Scalar::of_bool(true)));
  let(iota(DataType::i32, 4));
  let(convert_to(DataType::u8, x));
  let(reinterpret(DataType::u32, var(0, kFloat)));
  let(broadcast(var(0, kFloat), 8));
  let(reduce(Op::max, v));
  let(lane(v, 3));
  let(call("pow", {v, v}));
  out.body.push_back({Store{some_place(0), v, true, -64}});
  out.body.push_back({For{5, integer(DataType::i64, 2), x, {{Let{1, x}}, {Let{2, x}}}, true}});
  out.body.push_back({If{binary(Op::lt, x, x), {{Let{1, x}}, {Let{2, x}}}, {1, 2}}});
  out.body.push_back({Barrier{true}});
  out.body.push_back({Barrier{}});
  out.body.push_back({SubgroupBarrier{}});
  out.body.push_back({Prefetch{some_place(1), true}});
  out.body.push_back({Instruction{"mma", {{4, {2, 0, 5}, true}, {4, {1}, false}}}});
  out.body.push_back({MicroKernel{
      "product", {{one_element(0), {8, 3}, {64, 1}, true}, {one_element(1), {5}, {-2}, false}}}});
  out.body.push_back({MatrixFill{{5, 1}, Scalar::of_float(DataType::fp32, 2.5)}});
  out.body.push_back({MatrixLoad{{6, 0}, {one_element(0), 16, 1, x, nullptr}}});
  out.body.push_back({MatrixStore{{one_element(0), 1, 8, nullptr, x}, {5, 1}}});
  out.body.push_back({MatrixMultiply{{5, 1}, {6, 0}, {7, 0}}});
  out.body.push_back({ElementLoop{{{Store{one_element(5), v}}}}});
  return out;
}

std::string_view text(stria_string from) { return {from.data, from.size}; }

struct Printed {
  std::string text;
  node_counts counts{};
};

Printed printed(const Function& function, const stria_tree_nodes* nodes) {
  stria_tree_view view{};
  view.index_type = STRIA_I64;
  view.trip_count = static_cast<uint64_t>(function.trip_count);
  view.group_lanes = static_cast<uint64_t>(function.group_lanes);
  for (size_t d = 0; d < function.grid.size(); ++d)
    view.grid[d] = static_cast<uint64_t>(function.grid[d].size);
  const stria_string note = text_of(function.notes[0]);
  view.notes = &note;
  view.note_count = 1;
  Printed out;
  node_sink sink{};
  sink.state = &out.text;
  sink.text = [](void* state, const char* piece) {
    static_cast<std::string*>(state)->append(piece);
  };
  sink.number = [](void* state, stria_data_type type, double number) {
    *static_cast<std::string*>(state) +=
        to_string(Scalar::of_float(static_cast<DataType>(type), number));
  };
  sink.counts = &out.counts;
  print_nodes(&view, nodes, &sink);
  return out;
}

const stria_tree_statement& find(const stria_tree_nodes& nodes, stria_tree_statement_kind kind) {
  for (uint64_t i = 0; i < nodes.body_count; ++i)
    if (nodes.body[i]->kind == kind) return *nodes.body[i];
  ADD_FAILURE() << "no statement of kind " << kind;
  return *nodes.body[0];
}

class EveryNode : public testing::Test {
 protected:
  const Function function_ = everything();
  const TreeNodes made_{function_};
  const stria_tree_nodes& nodes_ = *made_.nodes();
};

TEST_F(EveryNode, IsPrinted) {
  const Printed out = printed(function_, &nodes_);
  EXPECT_EQ(out.text, print(function_));
  for (int kind = STRIA_TREE_LET; kind <= STRIA_TREE_MICRO_KERNEL; ++kind)
    EXPECT_GT(out.counts.statements[kind], 0u) << "statements of kind " << kind;
  for (int kind = STRIA_TREE_CONSTANT; kind <= STRIA_TREE_CALL; ++kind)
    EXPECT_GT(out.counts.expressions[kind], 0u) << "expressions of kind " << kind;
  for (int op = 0; op < kOperations; ++op)
    EXPECT_GT(out.counts.operations[number_of(static_cast<Op>(op))], 0u)
        << name_of(static_cast<Op>(op));
  static_assert(std::variant_size_v<decltype(Statement::op)> == STRIA_TREE_MICRO_KERNEL);
}

// What no text shows.
TEST_F(EveryNode, PlacesSayAll) {
  const stria_tree_place& place = *find(nodes_, STRIA_TREE_LOAD).place;
  EXPECT_EQ(place.multiple, 8);
  EXPECT_EQ(place.exists, 1);
  EXPECT_EQ(place.stride, 2);
  EXPECT_EQ(place.mask->type, STRIA_BOOL);
  EXPECT_EQ(place.mask->lanes, 4);
  EXPECT_EQ(find(nodes_, STRIA_TREE_MICRO_KERNEL).operands[0]->place->exists, 0);
  EXPECT_EQ(find(nodes_, STRIA_TREE_MICRO_KERNEL).operands[1]->memory, 1);
}

TEST_F(EveryNode, ExpressionsSayAll) {
  int exact = 0, regrouped = 0;
  for (uint64_t i = 0; i < nodes_.body_count; ++i) {
    const stria_tree_statement& one = *nodes_.body[i];
    if (one.kind != STRIA_TREE_LET) continue;
    exact += one.value->exact;
    regrouped += one.value->reassociate;
    const stria_tree_variable& variable = *nodes_.variables[one.variable];
    EXPECT_EQ(variable.type, one.value->type);
    EXPECT_EQ(variable.lanes, one.value->lanes);
    if (one.value->kind != STRIA_TREE_VARIABLE) {
      EXPECT_EQ(one.value->variable, -1);
    }
  }
  EXPECT_EQ(exact, 1);
  EXPECT_EQ(regrouped, 2);  // the sum and the reduction
  // Shared expressions are one node.
  const stria_tree_statement& branch = find(nodes_, STRIA_TREE_IF);
  EXPECT_EQ(branch.value->operands[0], branch.value->operands[1]);
}

TEST_F(EveryNode, MemoriesSayAll) {
  ASSERT_EQ(nodes_.parameter_count, 2u);
  const stria_tree_parameter& p = *nodes_.parameters[0];
  EXPECT_EQ(text(p.name), "P");
  EXPECT_EQ(p.alias_group, 3);
  EXPECT_EQ(p.shared, 1);
  EXPECT_EQ(p.readable, 1);
  EXPECT_EQ(nodes_.parameters[1]->writable, 0);
  EXPECT_EQ(nodes_.parameters[1]->shared, 0);
  ASSERT_EQ(nodes_.array_count, 6u);
  EXPECT_EQ(nodes_.arrays[0]->aligned, 1);
  EXPECT_EQ(nodes_.arrays[0]->overlaid, 0);
  EXPECT_EQ(nodes_.arrays[1]->overlaid, 1);
  EXPECT_EQ(nodes_.arrays[1]->shared, 1);
  EXPECT_EQ(nodes_.arrays[2]->slot_lanes, 4);
  EXPECT_EQ(nodes_.arrays[2]->count, 8);
  EXPECT_EQ(nodes_.arrays[4]->fragment_use, STRIA_TREE_FRAGMENT_LEFT);
  EXPECT_EQ(nodes_.arrays[4]->fragment_columns, 16);
  EXPECT_EQ(nodes_.parallel_variable, -1);
  EXPECT_EQ(nodes_.lane_variable, 3);
  EXPECT_EQ(nodes_.grid_count, 2);
  EXPECT_EQ(nodes_.grid_variables[1], 2);
  EXPECT_EQ(nodes_.grid_variables[2], -1);
}

}  // namespace
}  // namespace stria::reader
