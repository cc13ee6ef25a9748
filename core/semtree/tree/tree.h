// SPDX-License-Identifier: Apache-2.0
// The platform-neutral kernel tree. It is what a kernel of the device Stripe becomes once views,
// points and constraints are spelled out as loops, addresses, masks and typed arithmetic. Emitters
// translate it statement by statement and decide nothing. Plain values; expressions are shared and
// immutable.
//
// Rules that emitters rely on:
// * Every expression has a type: an element type and a number of lanes (1 = scalar). Operands of
//   one operation have the same type, except where a kind says otherwise; nothing converts
//   silently.
// * Values of fp16 and bf16 are only loaded, stored and converted; arithmetic on them is in fp32.
// * bool is a truth value in expressions and one byte (0 or 1) in memory.
// * Integer arithmetic wraps. Division and remainder never see a zero divisor or MIN / -1, and
//   shift counts are below the width: the builder has written the guards. max/min of floats appear
//   as selects that propagate NaN.
// * Variables are assigned once, before use, and visible to the end of the body that assigns them,
//   or of those around it that keep them (If::kept).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stria/type/scalar.h"

namespace stria::semtree {

// Bytes of the widest vector.
inline constexpr int64_t kMemoryAlignment = 64;

struct Type {
  DataType scalar = DataType::fp32;
  int lanes = 1;
  bool operator==(const Type&) const = default;
};
// "fp32", "fp32x16".
std::string to_string(Type type);

enum class Op {
  // one operand
  neg,
  bit_not,
  logical_not,
  abs,
  sqrt,
  floor,
  ceil,
  round_even,
  round_away,
  trunc,
  // two operands of one type
  add,
  sub,
  mul,
  div,        // truncates for integers
  rem,        // sign of the dividend; integers and floats
  floor_div,  // integers, constant positive divisor
  min,
  max,  // integers only
  bit_and,
  bit_or,
  bit_xor,  // integers and bool
  shift_left,
  shift_right,  // right: keeps the sign of signed integers
  // two operands of one type, result bool; false for NaN except ne
  eq,
  ne,
  lt,
  le,
  // three operands
  fma,     // a * b + c of floats, rounded once or twice
  select,  // bool, a, b: bool may be scalar over vector a and b; both arms are evaluated
};
std::string_view name_of(Op op);
// "+" of add, "-" of sub and of neg: how languages of the C family write it; empty if as a
// function.
std::string_view sign_of(Op op);

enum class ExprKind {
  constant,     // value; lanes > 1: in every lane
  variable,     // var
  iota,         // lane number: 0, 1, 2, …
  operation,    // op(args)
  convert,      // args[0] to the type, by the conversion rules of core/type/scalar.h
  reinterpret,  // the bits of args[0] as the type, a number as wide with as many lanes
  broadcast,    // scalar args[0] in every lane
  reduce,  // vector args[0] to a scalar: op is add, mul, min, max (floats too: NaN propagates),
           // bit_or, bit_and
  lane,    // lane number value.i of vector args[0]
  call,    // a function of mathematics by the name of its builtin: "exp", "pow"
};

struct Expr;
using ExprRef = std::shared_ptr<const Expr>;

struct Expr {
  ExprKind kind = ExprKind::constant;
  Type type;
  Scalar value;
  int var = -1;
  Op op = Op::add;
  // add, mul and reduce of floats: one step of an aggregation, which may be regrouped. select: the
  // larger or smaller of two floats (expr.h); among equal ones, either.
  bool reassociate = false;
  // Integers: the result does not wrap. It is index arithmetic, in which a wrap would be a wrong
  // address.
  bool exact = false;
  std::string callee;
  std::vector<ExprRef> args;
};

// Elements of a memory object: lane i is element offset + constant + i * stride.
struct Place {
  int memory = -1;  // parameters first, then arrays: see Function
  ExprRef offset;   // scalar, of the function's index type; null = 0. With lanes of offsets
                    // (type.lanes > 1) lane i is element offset[i] + constant.
  int64_t constant = 0;
  int lanes = 1;
  int64_t stride = 1;
  int64_t multiple = 1;  // a power of two that `offset` is a multiple of, for all the builder knows
  ExprRef mask;          // null = all lanes; inactive lanes are not touched and load as 0
  bool exists = false;   // all elements lie in the allocation, whatever the conditions around say
};

// Is the number of the first of several lanes in a row a multiple of how many they are?
inline bool is_aligned(const Place& place) {
  return place.lanes > 1 && place.stride == 1 && place.multiple % place.lanes == 0 &&
         place.constant % place.lanes == 0;
}

struct Statement;
using Body = std::vector<Statement>;

struct Let {
  int var = -1;
  ExprRef value;
};
struct Load {
  int var = -1;
  Place place;
  // A hint: what is loaded next lies so many elements further on, perhaps beyond the memory. 0:
  // none.
  int64_t prefetch = 0;
};
struct Store {
  Place place;
  ExprRef value;  // of the memory's element type
  // A hint: nothing reads it before the caches have had to let it go. All lanes are stored, in a
  // row, at a multiple of their number from the parameter's base.
  bool stream = false;
  int64_t prefetch = 0;  // as of a load: what is stored next
};
// var = lower, lower + 1, … below upper. Runs nothing if lower >= upper.
struct For {
  int var = -1;
  ExprRef lower;
  ExprRef upper;
  Body body;
  bool unroll = false;  // a hint: unrolling pays; both bounds are constants
};
struct If {
  ExprRef condition;  // scalar bool
  Body then;
  // Variables that `then` assigns (or keeps in its turn) and that stay visible behind it. They are
  // used only if the condition held.
  std::vector<int> kept;
};
// No lane goes on before all lanes of the group have reached it. Then each sees what the others
// stored before in arrays that they share and, with `parameters`, in the caller's memory too.
struct Barrier {
  bool parameters = false;
};
// The same of the lanes of a subgroup, for arrays that the group shares. All of them come to it.
struct SubgroupBarrier {};
// A hint that asks for the memory of a place, all of whose lanes lie in a row. It may lie beyond
// the memory.
struct Prefetch {
  Place place;
  bool writes = false;  // it is stored to next
};
// One operation of the hardware that the lanes of a unit run together on registers that they hold
// (docs/semantics.md S14). Every slot is an element of the array; a language may demand that slots
// of fewer than 32 bits stand in pairs.
struct Instruction {
  std::string name;  // "mma.m16n8k16"
  struct Operand {
    int memory = -1;             // an array in registers
    std::vector<int64_t> slots;  // its elements, in the order of the instruction's own slots
    bool written = false;        // and read: it adds to what is there
  };
  std::vector<Operand> operands;  // by the names that the instruction gives them
};

// A call of a function of the plugin on elements of memory (docs/semantics.md S21). It adds to the
// operand that is written, only reads the others, and touches no other element.
struct MicroKernel {
  std::string symbol;
  struct Operand {
    Place place;  // of the first element: one lane, no mask
    // Elements along each of its dims, and how many elements of memory one step goes.
    std::vector<int64_t> sizes, strides;
    bool written = false;
  };
  std::vector<Operand> operands;  // by the names that the hardware model gives them
};

// A matrix in an array of fragments (Array::fragment).
struct FragmentRef {
  int memory = -1;
  int64_t number = 0;  // which of the array's matrices
};
// Elements of a memory object as a matrix: row r, column c is element place + r * row_stride + c *
// column_stride. One of the strides is 1. The place has one lane and no mask.
struct MatrixPlace {
  Place place;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
  // So many rows and columns are there, if not null; any number, the same for all lanes. Of the
  // others nothing is stored, and what is loaded for them may be anything.
  ExprRef rows, columns;
};
// What the lanes of a subgroup do together with matrices (Array::fragment). All of its lanes come
// to the statement, and with the same place. Loads and stores convert to the type where they put
// what they move; if types differ, the fragment has the type in which values of memory's type are
// computed.
struct MatrixFill {
  FragmentRef to;
  Scalar value;  // of the array's type
};
struct MatrixLoad {
  FragmentRef to;
  MatrixPlace from;
};
struct MatrixStore {
  MatrixPlace to;
  FragmentRef from;
};
// sum += a * b; products and sums in the type of `sum`, in any order.
struct MatrixMultiply {
  FragmentRef sum, a, b;
};
// Each lane runs `body`, which has only Let, Load and Store, for every element of matrices that it
// holds. There Place{array of fragments, constant: n} is that element of the array's matrix n; all
// of these arrays have one form (Array::Fragment), and the order of elements is open.
struct ElementLoop {
  Body body;
};

struct Statement {
  std::variant<Let, Load, Store, For, If, Barrier, Instruction, Prefetch, MatrixFill, MatrixLoad,
               MatrixStore, MatrixMultiply, ElementLoop, SubgroupBarrier, MicroKernel>
      op;
};

struct Variable {
  std::string name;  // unique in the function
  Type type;
};

// A tensor given by the caller. Element 0 lies `first` elements behind the base of main's view.
struct Parameter {
  std::string name;  // unique in the function
  DataType type = DataType::fp32;
  bool readable = false;
  bool writable = false;
  int64_t span = 0;  // elements from the base of main's view to the last one, inclusive
  // No parameter with another number overlaps this one. Parameters of one number may be the same
  // memory.
  int alias_group = 0;
  bool shared = false;  // lanes hand values on through it, from one side of a barrier to the other
  int64_t first = 0;    // not 0 only with BuildOptions::argument_offsets
};

// The form of matrices in an array. (Outside of Array: the defaults of a class inside one are not
// known before the end of the outer class.)
struct ArrayFragment {
  enum class Use { left, right, sum } use = Use::sum;  // sum += left * right
  int64_t rows = 0, columns = 0;
  bool operator==(const ArrayFragment&) const = default;
};

// Memory of one parallel point, or of one lane of a group. Its content is undefined at first.
struct Array {
  std::string name;  // unique in the function
  DataType type = DataType::fp32;
  int64_t count = 0;  // elements of `type`
  // In registers: every access is exactly one slot, `slot_lanes` wide, with a constant subscript
  // that is a multiple of slot_lanes; there are no masks. If the emitter asks for loads across
  // slots, such a load takes lane constant % slot_lanes of each of `lanes` slots, from slot
  // constant / slot_lanes on, stride / slot_lanes apart. Otherwise it is plain memory on the stack.
  bool in_registers = false;
  int slot_lanes = 1;
  bool shared = false;   // one for all lanes of a group, instead of one for each
  bool aligned = false;  // a micro-kernel gets its address: at a multiple of 64 bytes
  // Shared, too: it may lie over the shared arrays that are not overlaid. None of them is used
  // behind a barrier of the group, and it is used behind that barrier only.
  bool overlaid = false;
  // `count` matrices, each held by the lanes of a subgroup together. Which lane has which element
  // only the device knows; of matrices of one form and type the same lane has the same element.
  // Only Matrix… and ElementLoop statements touch it, and numbers of matrices are constant.
  using Fragment = ArrayFragment;
  std::optional<Fragment> fragment = {};
};

struct Function {
  std::string name;
  DataType index_type = DataType::i64;
  std::vector<Parameter> params;  // outputs first, in the kernel's argument order
  std::vector<Array> arrays;      // memory number params.size() + i
  std::vector<Variable> vars;
  // The function runs `body` for parallel_var = first, first + 1, … below last, for any
  // 0 <= first <= last <= trip_count that its caller names; different points may run at once.
  int parallel_var = -1;  // without `grid`
  int64_t trip_count = 1;
  // Not empty: each parallel point is a group of group_lanes lanes. The lanes run `body` together,
  // with lane_var = 0, 1, …; they meet at barriers and share the arrays that are `shared`. The
  // groups' numbers have so many dimensions, three at most: dimension d is grid[d].var = 0, 1, …
  // below grid[d].size, the first one fastest.
  struct GridDim {
    int var = -1;
    int64_t size = 1;
  };
  std::vector<GridDim> grid;
  int64_t group_lanes = 1;
  int lane_var = -1;
  Body body;
  // What the builder decided and a reader may want to know, one line each.
  std::vector<std::string> notes;

  bool is_param(int memory) const { return memory < static_cast<int>(params.size()); }
  const Array& array(int memory) const { return arrays[memory - params.size()]; }
  Array& array(int memory) { return arrays[memory - params.size()]; }
  DataType element_type(int memory) const {
    return is_param(memory) ? params[memory].type : array(memory).type;
  }
  const std::string& memory_name(int memory) const {
    return is_param(memory) ? params[memory].name : array(memory).name;
  }
};

// Calls visit(statement) on each statement of `body`, const or not, and of the bodies inside it,
// outer first.
template <typename AnyBody, typename Visitor>
void walk(AnyBody& body, const Visitor& visit) {
  for (auto& statement : body) {
    visit(statement);
    if (auto* loop = std::get_if<For>(&statement.op)) walk(loop->body, visit);
    if (auto* branch = std::get_if<If>(&statement.op)) walk(branch->then, visit);
    if (auto* loop = std::get_if<ElementLoop>(&statement.op)) walk(loop->body, visit);
  }
}

}  // namespace stria::semtree
