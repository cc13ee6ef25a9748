// SPDX-License-Identifier: Apache-2.0
// A random Tile program as data: what the generator makes, what prints as Tile text, and what the
// brute-force evaluator runs without any of the code under test (no parser, no bounds, no IR).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "stria/poly/affine.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::differential {

// form / divisor, valid where the division is exact.
struct GeneratedForm {
  Affine form;
  int64_t divisor = 1;
};

struct GeneratedAccess {
  std::string tensor;
  std::vector<GeneratedForm> dims;
};

struct GeneratedContraction {
  std::string out;
  std::vector<int64_t> sizes;  // of out
  std::vector<GeneratedForm> out_dims;
  char agg = '+';    // + * > < =
  std::string comb;  // "", "+", "*", "==", "?"
  std::vector<GeneratedAccess> operands;
  std::vector<std::pair<Affine, int64_t>> constraints;  // 0 <= form < bound
  std::string default_tensor;                           // empty: none
};

// An elementwise expression: a tensor, a literal, or an operation on others.
struct GeneratedExpr {
  std::string op;  // "tensor", "literal", or a builtin
  std::string tensor;
  double literal = 0;
  std::vector<GeneratedExpr> args;
  DataType type = DataType::fp32;  // of the value; of op "as_packed" the packed type
};

struct GeneratedElementwise {
  std::string out;
  GeneratedExpr value;
};

// out = function(operands…, numbers…): gather, scatter, index, or prng_value and prng_state of a
// step of their own.
struct GeneratedSpecial {
  std::string out;
  std::string function;
  std::vector<std::string> operands;
  std::vector<int64_t> numbers;
};

struct GeneratedTensor {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
  std::optional<DataType> packed;  // of an input or output: as callers see it; `type` holds it
  DataType outside_type() const { return packed.value_or(type); }
};

struct GeneratedProgram {
  uint64_t seed = 0;
  std::vector<GeneratedTensor> inputs;
  std::vector<std::vector<Scalar>> input_values;  // row-major, one per input
  std::vector<std::variant<GeneratedContraction, GeneratedElementwise, GeneratedSpecial>>
      statements;
  std::vector<GeneratedTensor> tensors;  // assigned ones, in the order of their statements
  std::vector<std::string> outputs;      // the assigned tensors that no later statement reads
  // What the program exercises, counted once per program: "add/mul/fp32", "rank 3", "strided", …
  std::vector<std::string> features;

  // With `apart` > 0 the first so many statements stand in a function of their own, which the entry
  // calls.
  std::string tile_text(size_t apart = 0) const;
};

// What a program is like, beyond chance.
struct GeneratorOptions {
  int min_statements = 1;
  int max_statements = 4;
  int reuse_percent = 60;     // how often an operand is an earlier result, where one fits
  int main_type_percent = 0;  // how often a statement has the program's main type: then more fit
  // Everything is fp64 but what chooses (numbers of rows, and what `== ? :` compares: small
  // integers), nothing is made that has no derivative, and some elements of inputs are 0.
  bool differentiable = false;
  // How often an input or output is of a packed type. Programs are the same otherwise.
  int packed_percent = 0;
};

// A legal program; the same seed and options give the same one on every machine.
GeneratedProgram generate(uint64_t seed, const GeneratorOptions& options = {});

// An element as the brute force knows it: integers exactly in `i`; floats as `f` with an absolute
// error bound that a correct implementation stays within. `skip`: the value hangs on an undecided
// comparison or overflowed, so nothing can be said.
struct BruteValue {
  int64_t i = 0;
  double f = 0;
  double bound = 0;
  bool skip = false;
};

// All assigned tensors, row-major, by direct enumeration of every index assignment.
std::map<std::string, std::vector<BruteValue>> brute_force(const GeneratedProgram& program);

// Why `got` is wrong as element of `type`, or nothing.
std::optional<std::string> mismatch(DataType type, const BruteValue& expected, const Scalar& got);

}  // namespace stria::differential
