// SPDX-License-Identifier: Apache-2.0
// The bits of a number as another one, in the languages of the C family: of scalars and of lanes.
#include <gtest/gtest.h>

#include "cuda/emit/dialect.h"
#include "emit/dialect.h"
#include "stria/semtree/c/c_printer.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

// R[0 …] = the bits of X[0 …] + 1 as floats.
Function kernel(int lanes) {
  Function out;
  out.name = "bits";
  out.params = {
      {.name = "R", .type = DataType::fp32, .writable = true, .span = lanes},
      {.name = "X", .type = DataType::fp32, .readable = true, .span = lanes, .alias_group = 1}};
  out.vars = {{"point", {DataType::i64, 1}},
              {"x", {DataType::fp32, lanes}},
              {"next", {DataType::i32, lanes}}};
  out.parallel_var = 0;
  const ExprRef x = variable(1, out.vars[1].type), next = variable(2, out.vars[2].type);
  out.body.push_back({Load{.var = 1, .place = {.memory = 1, .lanes = lanes}}});
  out.body.push_back(
      {Let{2, binary(Op::add, reinterpret(DataType::i32, x), integer(DataType::i32, 1))}});
  out.body.push_back(
      {Store{.place = {.memory = 0, .lanes = lanes}, .value = reinterpret(DataType::fp32, next)}});
  return out;
}

std::string printed(const Dialect& dialect, int lanes) {
  CPrinter printer(dialect);
  const Result<std::string> text = printer.add(kernel(lanes), "k", 64);
  return text.ok() ? *text : text.status().message();
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
}

TEST(Reinterpret, InOpenCl) {
  const Dialect dialect = opencl::dialect({.fp64 = true});
  expect_has(printed(dialect, 1), "as_int(v_x)");
  expect_has(printed(dialect, 1), "as_float(v_next)");
  expect_has(printed(dialect, 4), "as_int4(v_x)");
  expect_has(printed(dialect, 4), "as_float4(v_next)");
}

TEST(Reinterpret, InCuda) {
  const Dialect dialect = cuda::dialect();
  expect_has(printed(dialect, 1), "stria_bits_as<int>(v_x)");
  expect_has(printed(dialect, 1), "stria_bits_as<float>(v_next)");
  expect_has(printed(dialect, 4), "stria_bits_as<stria_i32_x4>(v_x)");
}

TEST(Reinterpret, IsMissed) {
  Dialect dialect = cuda::dialect();
  dialect.spellings.erase("reinterpret");
  expect_has(printed(dialect, 1), "there is no reinterpretation of i32 in this language");
}

}  // namespace
}  // namespace stria::semtree
