// SPDX-License-Identifier: Apache-2.0
// The kernel tree of stria/reader.h as plain structures, for generators of anything but C: text of
// an assembler of your own, a compiler's intermediate code, words of a binary. It is the tree that
// stria_reader_tree_text prints, node for node, and the one that the generators of stria itself
// start from. A generator translates it statement by statement and decides nothing.
//
// Rules, beside those of stria/reader.h about structs, texts, arrays and threads:
// * Statements of a body run in order. A tree has no jumps, no calls of its own functions and no
//   loops but FOR and ELEMENT_LOOP.
// * Every expression has a type: an element type and a number of lanes (1: a scalar). Operands of
//   an operation have its type, except where a kind says otherwise. Nothing converts silently.
// * Types are STRIA_BOOL to STRIA_FP64. fp16 and bf16 are only constants, loaded, stored, converted
//   and taken as bits; arithmetic on them is arithmetic in fp32 between conversions.
// * bool is a truth value in expressions, and one byte, 0 or 1, in memory.
// * Integers wrap, except where `exact` says that they never do. No divisor is 0, no MIN is divided
//   by -1, and shift counts are not negative and below the width: guards stand in the tree.
// * Floats are IEEE: one rounding for each operation, except where `reassociate` allows more.
// * A variable is assigned once in a run of the body that assigns it, before it is used. It is seen
//   to the end of that body, or of those around it that keep it (STRIA_TREE_IF). So it may become a
//   name of static single assignment as it is.
// * Expressions have no effects and may be shared: one node may stand at several places. Variables
//   have the same value at all places where a node stands, unless a loop goes on between them.
// * Numbers of memories and variables are positions in the lists of stria_tree_nodes: the memory m
//   is parameters[m], or arrays[m - parameter_count] from parameter_count on. -1: none.
// * Members that a kind does not name are 0, NULL, empty, or -1 if they are numbers of this sort.
// * Later versions of this library may have more kinds. Refuse what you do not know.
#ifndef STRIA_TREE_H
#define STRIA_TREE_H

#include <stdint.h>

#include "stria/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

// -------------------------------------------------------------------------------------------------
// Expressions

typedef int32_t stria_tree_expression_kind;
enum {
  STRIA_TREE_CONSTANT = 1,     // `integer`, or `number` of floats; in every lane
  STRIA_TREE_VARIABLE = 2,     // the value of variable number `variable`
  STRIA_TREE_IOTA = 3,         // 0 in lane 0, 1 in lane 1, …
  STRIA_TREE_OPERATION = 4,    // operation(operands), lane by lane
  STRIA_TREE_CONVERT = 5,      // operands[0] as `type`, by the rules below
  STRIA_TREE_REINTERPRET = 6,  // the bits of operands[0] as `type`, which is as wide; never bool
  STRIA_TREE_BROADCAST = 7,    // the scalar operands[0] in every lane
  // All lanes of the vector operands[0] to a scalar: `operation` is one of ADD, MUL, MIN, MAX (of
  // floats too: NaN if a lane is NaN), OR and AND. Lanes combine in any order.
  STRIA_TREE_REDUCE = 8,
  STRIA_TREE_LANE = 9,  // lane number `integer` of the vector operands[0]
  // A function of mathematics of fp32 or fp64, by `function`: exp, log, sin, cos, tan, asin, acos,
  // atan, sinh, cosh, tanh, asinh, acosh, atanh of one operand, pow of two. docs/builtins.md says
  // how exact each has to be.
  STRIA_TREE_CALL = 10
};
// Conversions: integer to integer wraps. To bool: is it not 0? NaN is true. From bool: 0 or 1.
// Integer to float rounds once, to the nearest, ties to even. Float to integer: toward zero, the
// nearest limit of the type beyond it, and 0 of NaN. Float to float rounds once, to infinity beyond
// the largest number.

typedef int32_t stria_tree_operation;
enum {
  // of one operand
  STRIA_TREE_NEG = 1,         // integers and floats; of floats the sign alone changes
  STRIA_TREE_BIT_NOT = 2,     // integers
  STRIA_TREE_NOT = 3,         // bool
  STRIA_TREE_ABS = 4,         // signed integers (of MIN: MIN) and floats
  STRIA_TREE_SQRT = 5,        // floats, this and the next ones
  STRIA_TREE_FLOOR = 6,       // to an integer below
  STRIA_TREE_CEIL = 7,        // above
  STRIA_TREE_ROUND_EVEN = 8,  // the nearest, ties to even
  STRIA_TREE_ROUND_AWAY = 9,  // the nearest, ties away from zero
  STRIA_TREE_TRUNCATE = 10,   // toward zero
  // of two operands of one type
  STRIA_TREE_ADD = 20,
  STRIA_TREE_SUB = 21,
  STRIA_TREE_MUL = 22,
  STRIA_TREE_DIV = 23,        // of integers: toward zero
  STRIA_TREE_REM = 24,        // has the sign of the first; of floats as fmod of C
  STRIA_TREE_FLOOR_DIV = 25,  // integers, toward minus infinity; the second is a constant > 0
  STRIA_TREE_MIN = 26,        // integers; of floats selections stand in the tree
  STRIA_TREE_MAX = 27,        // integers
  STRIA_TREE_AND = 28,        // integers and bool, as OR and XOR
  STRIA_TREE_OR = 29,
  STRIA_TREE_XOR = 30,
  STRIA_TREE_SHIFT_LEFT = 31,   // integers
  STRIA_TREE_SHIFT_RIGHT = 32,  // integers; of signed ones the sign comes in
  // of two operands of one type, all of them; the result is bool. With NaN all but NE are false
  STRIA_TREE_EQ = 40,
  STRIA_TREE_NE = 41,
  STRIA_TREE_LT = 42,  // false is less than true
  STRIA_TREE_LE = 43,
  // of three operands
  STRIA_TREE_FMA = 50,    // floats: [0] * [1] + [2], rounded once or twice
  STRIA_TREE_SELECT = 51  // [1] if the bool [0], else [2]. [0] may be a scalar over vectors. Both
                          // are evaluated; neither has effects or traps
};

typedef struct stria_tree_expression stria_tree_expression;
struct stria_tree_expression {
  uint64_t size;
  const void* next;
  stria_tree_expression_kind kind;
  stria_data_type type;            // of the result
  int32_t lanes;                   // of the result; 1: a scalar
  stria_tree_operation operation;  // of OPERATION and REDUCE, else 0
  int32_t variable;                // of VARIABLE
  int32_t reserved;                // 0
  int64_t integer;        // CONSTANT of integers (u64 as its bits) and bool; the number of a LANE
  double number;          // CONSTANT of floats, a value of `type`
  stria_string function;  // of CALL
  const stria_tree_expression* const* operands;
  uint64_t operand_count;
  // ADD, MUL and REDUCE of floats: a step of an aggregation, whose steps may be done in another
  // order. FMA: always. SELECT: the larger or smaller of two floats a and b, which is
  // select(a != a, a, select(b < a, a, b)), or with a < b; of equal ones, such as 0 and -0, either
  // may come.
  uint8_t reassociate;
  // OPERATION of integers: arithmetic of an address, which never wraps: it may be done with more
  // bits, or as one that must not overflow.
  uint8_t exact;
};

// -------------------------------------------------------------------------------------------------
// Elements of memory

// Lane i is the element `offset` + constant + i * stride. If `offset` has lanes, it is the element
// offset[i] + constant. Elements are counted in the memory's type, from element 0 of an array, and
// from where the caller's address of a parameter points.
typedef struct stria_tree_place {
  uint64_t size;
  const void* next;
  int32_t memory;                       // its number
  int32_t lanes;                        // 1: one element
  const stria_tree_expression* offset;  // of the index type; may be NULL: 0
  int64_t constant;
  int64_t stride;    // 1: one behind the other
  int64_t multiple;  // a power of two that `offset` is known to be a multiple of
  // bool, with as many lanes, only if lanes > 1; may be NULL: all lanes. Of other lanes nothing is
  // touched: they load 0.
  const stria_tree_expression* mask;
  // 1: its elements are there whatever the conditions around it say, so that a load may be moved
  // out of them.
  uint8_t exists;
} stria_tree_place;

// Elements as a matrix: row r, column c is `place` + r * row_stride + c * column_stride.
typedef struct stria_tree_matrix {
  uint64_t size;
  const void* next;
  const stria_tree_place* place;  // of the first; one lane, no mask
  int64_t row_stride;             // one of the strides is 1
  int64_t column_stride;
  // How many there are, the same for all lanes; may be NULL: all. Of others nothing is stored, and
  // what is loaded for them may be anything.
  const stria_tree_expression* rows;
  const stria_tree_expression* columns;
} stria_tree_matrix;

// A matrix that the lanes of a subgroup hold together. Bare: it never grows.
typedef struct stria_tree_fragment {
  int32_t memory;    // an array with a fragment_use
  int32_t reserved;  // 0
  int64_t number;    // which of the array's matrices, from 0
} stria_tree_fragment;

// -------------------------------------------------------------------------------------------------
// Statements

typedef int32_t stria_tree_statement_kind;
enum {
  STRIA_TREE_LET = 1,    // variable = value
  STRIA_TREE_LOAD = 2,   // variable = the elements at `place`, of the memory's type
  STRIA_TREE_STORE = 3,  // the elements at `place` = value, of the memory's type
  // variable = lower, lower + 1, … below upper: `body`. Not once if lower >= upper. All three are
  // of the index type; the bounds are evaluated once.
  STRIA_TREE_FOR = 4,
  // if `value`, a scalar bool: `body`. `kept` are variables that the body assigns and that are seen
  // behind it, to the end of the body that this statement stands in. Nothing uses their values
  // where the condition did not hold: of static single assignment, the other value is undefined.
  STRIA_TREE_IF = 5,
  // No lane of the group goes on before all have come here. Then each sees what the others stored
  // before in arrays with `shared` and, with `parameters`, in parameters too.
  STRIA_TREE_BARRIER = 6,
  // The operation `name` of the hardware, which the lanes of a unit run together on registers that
  // they hold, `operands` (docs/semantics.md S14).
  STRIA_TREE_INSTRUCTION = 7,
  // A hint: the elements at `place`, one behind the other, are wanted soon; to be stored to, with
  // `writes`. They may lie beyond the memory.
  STRIA_TREE_PREFETCH = 8,
  // Matrices of a subgroup, all of whose lanes come here with the same place. Loads and stores
  // convert to the type of where they put what they move.
  STRIA_TREE_MATRIX_FILL = 9,       // every element of fragments[0] = value, a scalar constant
  STRIA_TREE_MATRIX_LOAD = 10,      // fragments[0] = `matrix`
  STRIA_TREE_MATRIX_STORE = 11,     // `matrix` = fragments[0]
  STRIA_TREE_MATRIX_MULTIPLY = 12,  // fragments[0] += fragments[1] * fragments[2], in any order
  // Each lane runs `body`, which has only LET, LOAD and STORE, for every element of matrices that
  // it holds. There the place {array of fragments, constant: n} is that element of the array's
  // matrix n. All of these arrays have one form. The order of elements is open.
  STRIA_TREE_ELEMENT_LOOP = 13,
  STRIA_TREE_SUBGROUP_BARRIER = 14,  // BARRIER of the lanes of a subgroup, for `shared` arrays
  // A call of the plugin's function `name` on `operands` (stria_micro_kernel; S21).
  STRIA_TREE_MICRO_KERNEL = 15
};

// Of an INSTRUCTION, in the order of the names that the hardware model gives its operands: elements
// of an array in registers. Of a MICRO_KERNEL, likewise: elements of memory.
typedef struct stria_tree_operand {
  uint64_t size;
  const void* next;
  int32_t memory;   // its number
  uint8_t written;  // 1: it is read, too: the operation adds to what is there
  // INSTRUCTION: elements of the array, one for each slot of the operand that a lane holds, in the
  // instruction's own order.
  const int64_t* slots;
  uint64_t slot_count;
  const stria_tree_place* place;  // MICRO_KERNEL: the first element; one lane, no mask
  // MICRO_KERNEL: elements along each dim, and how many elements of memory one step goes.
  const int64_t* sizes;
  const int64_t* strides;
  uint64_t dim_count;
} stria_tree_operand;

typedef struct stria_tree_statement stria_tree_statement;
struct stria_tree_statement {
  uint64_t size;
  const void* next;
  stria_tree_statement_kind kind;
  int32_t variable;                    // LET, LOAD and FOR: what they assign
  const stria_tree_place* place;       // LOAD, STORE and PREFETCH
  const stria_tree_expression* value;  // LET, STORE, IF and MATRIX_FILL
  const stria_tree_expression* lower;  // FOR
  const stria_tree_expression* upper;
  const stria_tree_statement* const* body;  // FOR, IF and ELEMENT_LOOP
  uint64_t body_count;
  const int32_t* kept;  // IF: numbers of variables
  uint64_t kept_count;
  // LOAD and STORE, a hint: what is loaded or stored next lies so many elements further on, perhaps
  // beyond the memory. 0: none.
  int64_t prefetch;
  stria_string name;  // INSTRUCTION and MICRO_KERNEL
  const stria_tree_operand* const* operands;
  uint64_t operand_count;
  const stria_tree_matrix* matrix;       // MATRIX_LOAD and MATRIX_STORE
  const stria_tree_fragment* fragments;  // MATRIX_…: one, of MATRIX_MULTIPLY three
  uint64_t fragment_count;
  // STORE, a hint: nothing reads it before the caches have let it go. All lanes are stored, in a
  // row, at a multiple of their number from the parameter's address.
  uint8_t stream;
  uint8_t unroll;      // FOR, a hint: unrolling pays; both bounds are constants
  uint8_t parameters;  // BARRIER: what was stored in parameters is seen, too
  uint8_t writes;      // PREFETCH
};

// -------------------------------------------------------------------------------------------------
// The kernel

typedef struct stria_tree_variable {
  uint64_t size;
  const void* next;
  stria_string name;  // of people; each once in the tree
  stria_data_type type;
  int32_t lanes;
} stria_tree_variable;

// A tensor of the caller: argument number i of stria_kernel_block is parameter i. A place counts
// from the element that the argument's address points to.
typedef struct stria_tree_parameter {
  uint64_t size;
  const void* next;
  stria_string name;  // of people; each once among parameters and arrays
  stria_data_type type;
  // Parameters of one number may be the same memory; those of different numbers never overlap.
  int32_t alias_group;
  int64_t span;  // elements from the first to the last one, inclusive
  uint8_t readable;
  uint8_t writable;
  uint8_t shared;  // 1: lanes of a group hand values on through it, over barriers
} stria_tree_parameter;

typedef int32_t stria_tree_fragment_use;
enum {
  STRIA_TREE_NO_FRAGMENT = 0,
  STRIA_TREE_FRAGMENT_LEFT = 1,  // fragments[1] of a MATRIX_MULTIPLY
  STRIA_TREE_FRAGMENT_RIGHT = 2,
  STRIA_TREE_FRAGMENT_SUM = 3
};

// Memory of one parallel point, or of one lane of a group. What is in it at first is undefined.
typedef struct stria_tree_array {
  uint64_t size;
  const void* next;
  stria_string name;  // of people; each once among parameters and arrays
  stria_data_type type;
  // Of arrays in registers: elements of one slot. Every access is one whole slot: slot_lanes lanes
  // with stride 1, a constant that is a multiple of slot_lanes, and neither offset nor mask. With
  // stria_tree_options::loads_across_slots a load may instead take the element constant %
  // slot_lanes of each of `lanes` slots, the first one constant / slot_lanes, stride / slot_lanes
  // apart.
  int32_t slot_lanes;
  int64_t count;         // elements; of fragments: matrices
  uint8_t in_registers;  // 1: may be variables, one for each slot. 0: plain memory on a stack
  uint8_t shared;        // 1: one for all lanes of a group
  uint8_t aligned;       // 1: begins at a multiple of 64 bytes, for a micro-kernel
  // 1: `shared`, too; may lie over the shared arrays that have 0. None of those is used behind a
  // barrier of the group, and this one is used behind that barrier only.
  uint8_t overlaid;
  // `count` matrices, each held by the lanes of a subgroup together. Which lane has which element,
  // the device knows; in all matrices of one form and type it is the same lane. Only MATRIX_… and
  // ELEMENT_LOOP touch them.
  stria_tree_fragment_use fragment_use;
  int64_t fragment_rows;
  int64_t fragment_columns;
} stria_tree_array;

// A kernel whose stria_tree_view says trip_count, group_lanes, grid and index_type. Without groups
// (group_lanes is 1) the body runs for each parallel point, whose number is in parallel_variable.
// With groups, each lane of each group runs it: its number is in lane_variable, and the group's are
// in the first grid_count of grid_variables: point = g0 + grid[0] * (g1 + grid[1] * g2). These
// variables are of the index type and have their values before the body. A lane_variable without
// groups is 0.
typedef struct stria_tree_nodes {
  uint64_t size;
  const void* next;
  stria_string name;  // of the kernel's block; may be empty
  const stria_tree_parameter* const* parameters;
  uint64_t parameter_count;
  const stria_tree_array* const* arrays;
  uint64_t array_count;
  const stria_tree_variable* const* variables;
  uint64_t variable_count;
  int32_t parallel_variable;  // -1 with groups
  int32_t lane_variable;      // may be -1 without groups
  int32_t grid_variables[3];  // -1 from grid_count on
  int32_t grid_count;         // 0 without groups
  const stria_tree_statement* const* body;
  uint64_t body_count;
} stria_tree_nodes;

// The tree's nodes, which are made at the first call and belong to the tree.
// Returns: STRIA_OUT_OF_MEMORY. @threads any @blocks no @allocates yes @reenters no
stria_error* stria_reader_tree_nodes(const stria_reader_tree* tree, const stria_tree_nodes** nodes);

// "floor_div"; empty if the number is none. Static. @threads any @blocks no @allocates no
// @reenters no
stria_string stria_reader_operation_name(stria_tree_operation operation);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_TREE_H
