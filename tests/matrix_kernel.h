// SPDX-License-Identifier: Apache-2.0
// A kernel tree in which subgroups hold matrices: every statement on them, in few lines.
#pragma once

#include <string>

#include "stria/semtree/tree/expr.h"
#include "stria/semtree/tree/tree.h"

namespace stria::test {

// R = max(A * B + bias, 0) of 32 x 32 and 32 x 16 elements, by one group of two subgroups, each of
// which has 16 rows. Lanes stage B in the array S that they share, 16 rows at a time.
struct MatrixKernel {
  static constexpr int64_t kTile = 16, kRows = 32, kColumns = 16, kDepth = 32;
  enum Memory { kR, kA, kB, kBias, kS, kLeft, kRight, kSum, kAdded };
  enum Variable { kGroup, kLane, kSubgroup, kStep, kCopy, kStaged, kTotal, kTerm };

  int64_t subgroup = 32;  // lanes
  DataType operand = DataType::fp16, sum = DataType::fp32, result = DataType::fp32;
  bool columns = false;  // S and R have columns in one piece, not rows
  // Of A, bias and R no more are there; the others are neither read nor written.
  int64_t rows_there = kRows, columns_there = kColumns;

  semtree::Function function() const {
    using namespace semtree;
    constexpr DataType kIndex = DataType::i32;
    const auto number = [](int64_t value) { return integer(kIndex, value); };
    const auto var = [](int which) { return semtree::variable(which, {kIndex, 1}); };
    const auto scaled = [&](int which, int64_t by) {
      return binary(Op::mul, var(which), number(by));
    };
    Function f;
    f.name = "k";
    f.index_type = kIndex;
    f.params = {{"R", result, false, true, kRows * kColumns, 0},
                {"A", operand, true, false, rows_there * kDepth, 1},
                {"B", operand, true, false, kDepth * kColumns, 2},
                {"bias", sum, true, false, columns_there, 3}};
    f.arrays = {{.name = "S", .type = operand, .count = kTile * kColumns, .shared = true},
                {.name = "left", .type = operand, .count = 1},
                {.name = "right", .type = operand, .count = 1},
                {.name = "sum", .type = sum, .count = 1},
                {.name = "added", .type = sum, .count = 1}};
    using Use = Array::Fragment::Use;
    f.array(kLeft).fragment = {Use::left, kTile, kTile};
    f.array(kRight).fragment = {Use::right, kTile, kTile};
    f.array(kSum).fragment = f.array(kAdded).fragment = {Use::sum, kTile, kTile};
    for (const char* name : {"group", "lane", "subgroup", "step", "copy"})
      f.vars.push_back({name, {kIndex, 1}});
    f.vars.push_back({"staged", {operand, 1}});
    f.vars.push_back({"total", {sum, 1}});
    f.vars.push_back({"term", {sum, 1}});
    f.grid = {{kGroup, 1}};
    f.lane_var = kLane;
    f.group_lanes = 2 * subgroup;

    f.body.push_back({Let{kSubgroup, binary(Op::div, var(kLane), number(subgroup))}});
    const Scalar zero = convert(Scalar::of_bool(false), sum);
    f.body.push_back({MatrixFill{{kSum, 0}, zero}});
    Body step;
    step.push_back({For{kCopy, number(0), number(kTile * kColumns / f.group_lanes), copy(f)}});
    step.push_back({Barrier{}});
    const ExprRef rows = rows_there == kRows
                             ? nullptr
                             : binary(Op::sub, number(rows_there), scaled(kSubgroup, kTile));
    const ExprRef wide = columns_there == kColumns ? nullptr : number(columns_there);
    const ExprRef left = binary(Op::add, scaled(kSubgroup, kTile * kDepth), scaled(kStep, kTile));
    step.push_back({MatrixLoad{
        {kLeft, 0},
        {{.memory = kA, .offset = left, .multiple = kTile}, kDepth, 1, rows, nullptr}}});
    step.push_back({MatrixLoad{{kRight, 0}, lines({.memory = kS}, kColumns)}});
    step.push_back({MatrixMultiply{{kSum, 0}, {kLeft, 0}, {kRight, 0}}});
    step.push_back({Barrier{}});
    f.body.push_back({For{kStep, number(0), number(kDepth / kTile), step}});
    f.body.push_back({MatrixLoad{{kAdded, 0}, {{.memory = kBias}, 0, 1, nullptr, wide}}});
    const auto value = [&](int which) { return semtree::variable(which, {sum, 1}); };
    const ExprRef all = binary(Op::add, value(kTotal), value(kTerm));
    const ExprRef none = semtree::constant(zero);
    f.body.push_back({ElementLoop{{{Load{kTotal, {.memory = kSum}}},
                                   {Load{kTerm, {.memory = kAdded}}},
                                   {Store{{.memory = kSum},
                                          is_float(sum) ? float_extreme(Op::max, all, none)
                                                        : binary(Op::max, all, none)}}}}});
    // Columns of R are as long as all rows.
    const ExprRef first = scaled(kSubgroup, columns ? kTile : kTile * kColumns);
    MatrixPlace result_at =
        lines({.memory = kR, .offset = first, .multiple = kTile}, columns ? kRows : kColumns);
    result_at.rows = rows;
    result_at.columns = wide;
    f.body.push_back({MatrixStore{std::move(result_at), {kSum, 0}}});
    return f;
  }

 private:
  semtree::MatrixPlace lines(const semtree::Place& at, int64_t apart) const {
    return columns ? semtree::MatrixPlace{at, 1, apart} : semtree::MatrixPlace{at, apart, 1};
  }

  // S[…] = B[step * 256 + element] for element copy * lanes + lane.
  semtree::Body copy(const semtree::Function& f) const {
    using namespace semtree;
    constexpr DataType kIndex = DataType::i32;
    const auto number = [](int64_t value) { return integer(kIndex, value); };
    const auto var = [](int which) { return semtree::variable(which, {kIndex, 1}); };
    const ExprRef element =
        binary(Op::add, binary(Op::mul, var(kCopy), number(f.group_lanes)), var(kLane));
    const ExprRef from =
        binary(Op::add, binary(Op::mul, var(kStep), number(kTile * kColumns)), element);
    const ExprRef turned =
        binary(Op::add, binary(Op::mul, binary(Op::rem, element, number(kColumns)), number(kTile)),
               binary(Op::div, element, number(kColumns)));
    return {{Load{kStaged, {.memory = kB, .offset = from}}},
            {Store{{.memory = kS, .offset = columns ? turned : element},
                   semtree::variable(kStaged, {operand, 1})}}};
  }
};

}  // namespace stria::test
