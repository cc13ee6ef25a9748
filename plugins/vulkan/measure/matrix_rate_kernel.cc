// SPDX-License-Identifier: Apache-2.0
#include "measure/matrix_rate_kernel.h"

#include <algorithm>
#include <array>

#include "stria/semtree/tree/expr.h"

namespace stria::vulkan {
namespace {

using semtree::Array;
using semtree::Body;
using semtree::FragmentRef;
using semtree::Function;
using semtree::MatrixPlace;
using semtree::Place;
using Use = semtree::Array::Fragment::Use;

// So many groups of a unit, of so many subgroups each, that it does not matter how they are shared
// out. On an H100 the multiply-adds take less than a millisecond.
constexpr int64_t kGroupsOfUnit = 32;
constexpr int64_t kSubgroupsOfGroup = 4;
constexpr int64_t kSubgroupMultiplyAdds = int64_t{1} << 23;
// Elements between the first values of two sums: a compiler would make equal sums one.
constexpr int64_t kBetweenSums = 16;

enum Memory { kResults, kLeft, kRight, kFirst, kLeftMatrix, kRightMatrix, kSums };
enum Variable { kGroup, kLane, kStep, kWrites };

// A matrix in rows, from element `at` of a parameter on.
MatrixPlace matrix(int memory, int64_t at, int64_t columns) {
  Place place;
  place.memory = memory;
  place.constant = at;
  place.multiple = kBetweenSums;  // there is no offset
  place.exists = true;
  return {place, columns, 1};
}

Function function_of(const MatrixForm& form, int64_t groups, int64_t group_lanes, int64_t steps) {
  const auto [m, n, k, left, right, sum] = form;
  const int64_t sum_elements = m * n, first_elements = sum_elements + kBetweenSums * kMatrixSums;
  Function out;
  out.name = "multiply_matrices";
  out.index_type = DataType::i32;
  out.params = {
      {.name = "R",
       .type = sum,
       .writable = true,
       .span = kMatrixSums * sum_elements,
       .alias_group = 0},
      {.name = "A", .type = left, .readable = true, .span = m * k, .alias_group = 1},
      {.name = "B", .type = right, .readable = true, .span = k * n, .alias_group = 1},
      {.name = "C", .type = sum, .readable = true, .span = first_elements, .alias_group = 1}};
  const auto add_matrices = [&](const char* name, DataType type, int64_t count,
                                Array::Fragment fragment) {
    out.arrays.push_back({.name = name, .type = type, .count = count});
    out.arrays.back().fragment = fragment;
  };
  add_matrices("a", left, 1, {Use::left, m, k});
  add_matrices("b", right, 1, {Use::right, k, n});
  add_matrices("s", sum, kMatrixSums, {Use::sum, m, n});
  const semtree::Type index{out.index_type, 1}, value{sum, 1};
  out.vars = {{"g", index}, {"l", index}, {"p", index}, {"w", value}};
  out.trip_count = groups;
  out.grid = {{kGroup, groups}};
  out.group_lanes = group_lanes;
  out.lane_var = kLane;

  out.body.push_back({semtree::MatrixLoad{{kLeftMatrix, 0}, matrix(kLeft, 0, k)}});
  out.body.push_back({semtree::MatrixLoad{{kRightMatrix, 0}, matrix(kRight, 0, n)}});
  for (int64_t i = 0; i < kMatrixSums; ++i)
    out.body.push_back({semtree::MatrixLoad{{kSums, i}, matrix(kFirst, i * kBetweenSums, n)}});
  semtree::For loop{.var = kStep,
                    .lower = semtree::integer(out.index_type, 0),
                    .upper = semtree::integer(out.index_type, steps)};
  for (int64_t i = 0; i < kProductsWritten; ++i)
    loop.body.push_back(
        {semtree::MatrixMultiply{{kSums, i % kMatrixSums}, {kLeftMatrix, 0}, {kRightMatrix, 0}}});
  out.body.push_back({std::move(loop)});
  // Never true, which a compiler does not know: the sums are needed, and nothing is written.
  out.body.push_back({semtree::Load{kWrites, matrix(kFirst, 0, n).place}});
  const semtree::ExprRef zero = semtree::constant(convert(Scalar::of_int(DataType::i32, 0), sum));
  semtree::If writes{
      semtree::binary(semtree::Op::ne, semtree::variable(kWrites, value), zero), {}, {}};
  for (int64_t i = 0; i < kMatrixSums; ++i)
    writes.then.push_back(
        {semtree::MatrixStore{matrix(kResults, i * sum_elements, n), {kSums, i}}});
  out.body.push_back({std::move(writes)});
  return out;
}

}  // namespace

MatrixRateKernel matrix_rate_kernel(const MatrixForm& form, int64_t units, int64_t subgroup_lanes,
                                    const Features& features, const Limits& limits) {
  const int64_t subgroups =
      std::clamp<int64_t>(limits.group_lanes / subgroup_lanes, 1, kSubgroupsOfGroup);
  const int64_t groups = std::min(kGroupsOfUnit * units, limits.groups[0]);
  const int64_t multiply_adds = form.m * form.n * form.k;
  const int64_t steps =
      std::max<int64_t>(kSubgroupMultiplyAdds / multiply_adds / kProductsWritten, 1);
  MatrixRateKernel out;
  out.products = static_cast<double>(groups * subgroups * steps * kProductsWritten);
  KernelCode& code = out.code;
  code.function = function_of(form, groups, subgroups * subgroup_lanes, steps);
  code.name = code.symbol = code.function.name;
  code.group_lanes = code.function.group_lanes;
  code.groups = {groups, 1, 1};
  code.matrix_lanes = subgroup_lanes;
  code.takes_base_group = groups > features.whole_groups;
  for (const semtree::Parameter& param : code.function.params)
    code.arguments.push_back({param.name, param.type, param.span * byte_size(param.type),
                              param.writable, param.readable});
  return out;
}

}  // namespace stria::vulkan
