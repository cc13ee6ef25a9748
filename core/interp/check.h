// SPDX-License-Identifier: Apache-2.0
// How much a device's result may differ from the interpreter's. Beside each typed value the
// interpreter carries an fp64 value, and a bound on the error of any conforming device:
//
// * a sum of n terms t: gamma(n + 1) * sum|t| + sum of the terms' bounds, where
//   gamma(k) = k u / (1 - k u) and u is the unit roundoff of the aggregation type (any order of
//   summation, fma or not);
// * a builtin: the operands' bounds carried to first order, plus the record's ULP bound. A product
//   of exact operands that needs no rounding has none;
// * a store: one rounding to a narrower storage type.
//
// On a device that takes subnormal numbers for zero (InterpOptions::flushed, rule M23), an operand
// that may be subnormal counts as any number between zero and itself, a result that may be
// subnormal as any number below the smallest normal one, and each term of a sum may lose so much at
// three places.
//
// The first two include the rounding of the fp64 value itself. It matters for fp64 programs.
//
// An element is undecided if it depends on a comparison, or on a conversion to integer, whose
// operands are closer than their bounds. It is skipped and counted. Integers are exact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/block.h"

namespace stria::interp {

// The expected content of some elements of one output.
struct Reference {
  std::string name;
  TensorShape shape;              // of the output, dense
  std::vector<int64_t> elements;  // row-major positions; empty means all, in order
  std::vector<Scalar> typed;      // what the interpreter itself stores
  std::vector<double> value;      // fp64
  std::vector<double> bound;      // >= 0; 0 for integers
  std::vector<uint8_t> undecided;
  size_t size() const { return typed.size(); }
};

// All outputs of `program`, in order. `inputs` has every input (and the start of every inout
// output); nothing is written to them. Errors as for interpret.
Result<std::vector<Reference>> interpret_with_bounds(const stripe::Program& program,
                                                     const std::vector<TensorArg>& inputs,
                                                     const InterpOptions& options = {});

// The same for `count` elements of each output, chosen by `seed`: the first and the last one
// always, each once, ascending. Only what they need is computed, backwards through the kernels of
// *generic* Stripe (kernels of one level). A program of another form is interpreted as a whole.
Result<std::vector<Reference>> interpret_sample(const stripe::Program& program,
                                                const std::vector<TensorArg>& inputs, int64_t count,
                                                uint64_t seed, const InterpOptions& options = {});

struct CheckReport {
  int64_t compared = 0;  // elements looked at, skipped ones included
  int64_t skipped = 0;   // undecided
  int64_t failures = 0;  // beyond the bound
  double max_abs_error = 0;
  double max_rel_error = 0;  // relative to |value|; elements of value 0 do not count
  double max_bound = 0;      // largest finite bound of a compared element
  // Row-major position of the element with the largest error / bound; -1 if none was compared.
  int64_t worst_element = -1;
  std::string worst_text;  // "O[0, 3]: got 1.5, expected 1.25 within 1e-06"; "" if no error
  bool passed() const { return failures == 0; }
};

// `result` is a whole tensor of the reference's type and sizes (strides may differ).
// invalid_argument if type or sizes differ.
Result<CheckReport> compare(const TensorArg& result, const Reference& reference);

}  // namespace stria::interp
