// SPDX-License-Identifier: Apache-2.0
// A Tile function bound to the types and sizes of its inputs: what lowering reads. Every type is
// decided, every size is a number, user functions are inlined, and each index of a contraction has
// its exact range. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/poly/affine.h"
#include "stria/tile/syntax/ast.h"
#include "stria/type/scalar.h"

namespace stria::tile {

// More warnings about one program are not reported.
inline constexpr size_t kMaxWarnings = 20;

// Position in BoundProgram::tensors.
using TensorId = int;

struct BoundTensor {
  std::string name;  // unique in the program; as written for inputs and outputs
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;  // elements, each >= 0; the dense tensor's bytes fit in int64
  // A packed type, which `type` only holds (T14): callers see an input or output so.
  std::optional<DataType> packed;
  bool is_input = false;
  bool is_output = false;  // never both

  DataType outside_type() const { return packed.value_or(type); }
};

// The coordinate numerator / divisor along one dimension. An index point at which the division
// leaves a remainder is not valid.
struct DimAccess {
  Affine numerator;     // over the contraction's indices
  int64_t divisor = 1;  // >= 1, no common factor with all of the numerator
  bool operator==(const DimAccess&) const = default;
};

struct BoundOperand {
  TensorId tensor = 0;
  std::vector<DimAccess> access;  // one per dimension
};

// An index variable and the smallest and largest value it takes in the valid set.
struct BoundIndex {
  std::string name;
  Interval range;  // may be negative; 0..0 if the valid set is empty
};

// out[out_access] = aggregation over the valid set of combination(operands).
// The valid set: integer points of the box of `indices` that meet all `constraints` and at which
// all divisions are exact. Out elements that no valid point writes are 0, or `default_tensor`'s.
struct BoundContraction {
  TensorId out = 0;
  std::vector<DimAccess> out_access;
  Aggregation aggregation = Aggregation::sum;
  Combination combination = Combination::none;
  std::vector<BoundOperand> operands;  // 1: none; 2: add, mul, equal; 3: cond
  std::vector<BoundIndex> indices;     // sorted by name
  // Each form >= 0: bounds of tensors and written constraints, without those the box implies.
  std::vector<Affine> constraints;
  bool empty = false;  // no valid point
  // The type of the combining operation: of `+` and `*`; of the comparison for `==` and `cond`; the
  // operand's own type for `none`.
  DataType combination_type = DataType::fp32;
  // The type of the combined value: combination_type; bool for `==`; the third operand's for
  // `cond`.
  DataType value_type = DataType::fp32;
  // The type that the running value is kept in. The out tensor's type may be narrower (fp16, bf16).
  DataType aggregation_type = DataType::fp32;
  std::optional<TensorId> default_tensor;  // type and sizes of `out`
  bool in_derivative = false;  // of a function that is one: what is unwritten is 0 by intent
  bool no_defract = false;
  std::string out_name;  // as written, for messages
  SourceSpan out_span;   // of the output and its indices, in the program's text
};

// One node of an elementwise expression.
struct BoundNode {
  enum class Kind : uint8_t {
    load,      // element of `tensor`, broadcast to the output: right-aligned, size 1 stretches
    constant,  // `value`
    index,     // coordinate along the output's dimension `axis`
    call,      // builtin `function` with operation type `operation_type` on `args`
  };
  Kind kind = Kind::constant;
  DataType type = DataType::fp32;  // of the node's value
  TensorId tensor = 0;
  Scalar value;
  int axis = 0;
  std::string function;
  DataType operation_type = DataType::fp32;
  std::vector<int> args;  // positions of earlier nodes
};

// out[every coordinate] = the last node.
struct BoundElementwise {
  TensorId out = 0;
  std::vector<BoundNode> nodes;  // arguments before their calls; never empty
};

// out = the first elements of `from`, in row-major order. `from` has as many elements; it may have
// more if both are not empty and `out` has rank 1.
struct BoundReshape {
  TensorId out = 0;
  TensorId from = 0;
};

// out[i…, d…] = from[index[i…] clamped to its rows, d…] (rule M13).
struct BoundGather {
  TensorId out = 0;
  TensorId from = 0;
  TensorId index = 0;
};

// out[r, d…] = sum of from[i…, d…] over the i… with index[i…] = r (rule M14). `out` is not narrower
// than the sum.
struct BoundScatter {
  TensorId out = 0;
  TensorId from = 0;
  TensorId index = 0;
};

// Random numbers (rule M16). `values` has one row for each step of all streams. Of the last row,
// only what makes up `count` numbers is written. Streams step as often as they write.
struct BoundPrng {
  TensorId state_out = 0;
  TensorId values = 0;  // fp32 [ceil(count / streams), streams]
  TensorId state = 0;
  int64_t count = 0;
};

// A call of a function of the file, inlined.
struct BoundCall {
  std::string function;
  SourceSpan span;  // in the program's text
  int caller = -1;  // the call within which it stands, as BoundStatement::call
};

struct BoundStatement {
  std::variant<BoundContraction, BoundElementwise, BoundReshape, BoundGather, BoundScatter,
               BoundPrng>
      form;
  std::vector<Attribute> attributes;
  // Canonical text for comments: "O[n, x : N, X] = +(D[n, -1 + i + x] * K[i])".
  std::string text;
  SourceSpan span;  // in the program's text
  int call = -1;    // whose function it belongs to: position in BoundProgram::calls; -1: the entry
};

struct BoundProgram {
  SourceText source;  // that all spans are places in
  std::string name;   // of the function; "main" if it has none
  std::vector<BoundTensor> tensors;
  std::vector<TensorId> inputs;            // in the order of the parameters
  std::vector<TensorId> outputs;           // in the order of the results
  std::vector<BoundStatement> statements;  // each tensor is written once, before it is read
  std::vector<BoundCall> calls;            // a caller before what it calls
  std::vector<Diagnostic> warnings;        // about the program's text, at most kMaxWarnings
};

}  // namespace stria::tile
