// SPDX-License-Identifier: Apache-2.0
// The elementwise functions of stria. Each is one record in a file of its own (add.cc, exp.cc, …),
// listed in all_builtins.def; the Tile parser and binder, the interpreter, the gradient, the kernel
// tree, the documentation page and the differential tests all read that record, so a function is
// described once.
//
// A builtin is called in Tile by its operator or its name and appears in Stripe as the intrinsic
// `$r = name.T($a, …)`. T is the operation type: operand i is converted to operand_type(b, T, i),
// the result has type result_type(b, T). All records are constants: no state, safe from every
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/scalar.h"

namespace stria {

// How the operation type T follows from the operands' common type C (see common_type), and what the
// result is.
enum class TypeRule : uint8_t {
  arithmetic,  // T = C, bool counts as i32; result T
  same,        // T = C; result T
  floating,    // T = C for floats, fp32 for integers and bool; result T
  comparison,  // T = C; result bool
  logic,       // T = bool, operands are taken as truth (!= 0); result bool
  bits,        // T = C, an integer type or bool; result T
  select,      // the first operand is taken as truth; T = C of the other two; result T
  cast,        // T is what the call asks for (cast_type); result T
};

// One Tile expression per operand for the gradient that flows back to it, over X, Y, Z (the
// operands), R (the result) and DR (the gradient of the result). Null: the operand gets none.
struct Derivative {
  std::array<const char*, 3> of{};
  // Set exactly if the function has no derivative, or one that is zero everywhere.
  const char* why_not = nullptr;
  bool is_zero = false;  // nothing flows back, and that is right everywhere
  const char* at_edges =
      nullptr;  // what it is where the function is not differentiable; null: it is
};
constexpr Derivative derivative(const char* x, const char* y = nullptr, const char* z = nullptr) {
  return {{x, y, z}};
}
constexpr Derivative at_edges(Derivative of, const char* text) {
  of.at_edges = text;
  return of;
}
constexpr Derivative no_derivative(const char* why) { return {{}, why}; }
// The elements of the operands play no part.
constexpr Derivative zero_derivative(const char* why) { return {{}, why, true}; }

// Largest error of a conforming device in units of the last place of the result. 0.5 is correctly
// rounded, 0 is exact. Results below the smallest normal number count as if they were that number.
struct UlpBound {
  double fp32 = 0;
  double fp64 = 0;
};

// Operands that a builtin may have.
inline constexpr size_t kMaxArity = 3;

// What one result costs. The value is about how many instructions that is, for one vector of
// results. It is a scale on which sums of functions can be compared, no measurement.
enum class Cost : uint8_t {
  cheap = 1,   // a cycle or less: rather calculated twice than kept in a tensor
  medium = 4,  // neither: divisions, roots, roundings
  slow = 16,   // a long chain, or a call of a library: exponentials, sines
};

// A value of one operand that leaves the other one as it is: the result is the other operand, bit
// for bit, NaN and -0.0 included.
enum class Unit : uint8_t {
  none,
  zero,
  negative_zero,  // -0.0 of floats, 0 of integers
  one,
  all_ones,  // of integers and bool
};

// Which circuit of an execution unit a function takes. Hardware models give the energy of each.
enum class Circuit : uint8_t { other, adder, multiplier };

struct Builtin {
  const char* name;      // in Tile and Stripe
  const char* spelling;  // operator in Tile ("+"), or null: called by name
  int arity;
  TypeRule types;
  // The meaning: operands already have operand_type(…); all shapes are broadcast (broadcast_sizes).
  // fp32, fp16 and bf16 results are computed in double and rounded once.
  Scalar (*reference)(DataType op_type, const Scalar* operands);
  UlpBound ulp;
  Derivative gradient;
  const char* doc;      // one or two sentences, edge cases included
  const char* example;  // Tile
  // If > 0: |f(a) - f(b)| <= lipschitz * |a - b|, for functions that are not monotone. All others
  // are monotone or convex in each operand, so that their error is largest at a corner of the
  // operands'.
  double lipschitz = 0;
  Cost cost = Cost::medium;
  Circuit circuit = Circuit::other;
  // Every value of every operand has a result of its own. So the function may be computed where the
  // program does not ask for it, and the result left. False: for some values a rule settles what
  // integers get, for a zero divisor or a float beyond the type, and a check of the program counts
  // those as mistakes (see is_total).
  bool total = true;
  // Laws of functions of two operands. They hold for every type that the function has.
  bool commutative = false;  // f(a, b) is f(b, a), bit for bit
  bool idempotent = false;   // f(a, a) is a, bit for bit
  bool zero_wins = false;    // f(a, 0) and f(0, a) are 0 if the type is no float
  // Several values may be joined in any order and grouping, but for rounding and the sign of 0.
  bool joins = false;
  Unit left_unit = Unit::none, right_unit = Unit::none;  // f(unit, b) is b, f(a, unit) is a
};

// Every record, in the order of all_builtins.def (the order of the documentation).
std::span<const Builtin* const> all_builtins();
// Null if there is no builtin of that name.
const Builtin* find_builtin(std::string_view name);
// For "did you mean": every name.
const std::vector<std::string>& builtin_names();

// Builtin::total for one operation type: floats have infinities and NaN for every such value.
bool is_total(const Builtin& builtin, DataType op_type);
// The unit as a number of the type; nothing if the type has none.
std::optional<Scalar> unit_of(Unit unit, DataType type);

// bool < integers < floats. Of two integers the wider; of the same width the unsigned one. Of two
// floats the wider; fp16 with bf16 gives fp32. An integer beside a float gives the float.
DataType common_type(DataType a, DataType b);

// What a Tile call on tensors of `operands` types does.
struct CallTypes {
  DataType operation;  // T of the intrinsic: compute_type of the rule's T (fp32 for fp16 and bf16)
  DataType result;     // type of the resulting tensor; fp16 and bf16 stay what they are
};
// invalid_argument: wrong number of operands, or a type that the rule does not allow. Not for
// casts.
Result<CallTypes> call_types(const Builtin& builtin, std::span<const DataType> operands);

// The types of an intrinsic with operation type `op_type`.
DataType operand_type(const Builtin& builtin, DataType op_type, int operand);
DataType result_type(const Builtin& builtin, DataType op_type);
// Whether `name.op_type` exists.
bool allows(const Builtin& builtin, DataType op_type);

// as_float(x, bits), as_bfloat(x, 16), as_int(x, bits), as_uint(x, bits), as_bool(x) become
// ident.T, unless T is packed; as_fp8_e4m3(x), as_fp8_e5m2(x), as_fp4(x) give packed types. `bits`
// is 0 where the call has none. invalid_argument names the widths that exist.
Result<DataType> cast_type(const Builtin& builtin, int64_t bits);

// Numpy's rule: aligned at the last dimension, a size of 1 stretches. invalid_argument names the
// sizes that do not fit.
Result<std::vector<int64_t>> broadcast_sizes(std::span<const std::vector<int64_t>> operands);

// The error bound in ULPs for a result of `type` (fp16 and bf16: correctly rounded from fp32).
double ulp_bound(const Builtin& builtin, DataType type);

}  // namespace stria
