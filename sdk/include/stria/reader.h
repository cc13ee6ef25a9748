// SPDX-License-Identifier: Apache-2.0
// Reads device Stripe for a plugin that generates code: the program as plain structures, its
// kernels, and each kernel's tree and C source, made by the lowering that all devices of stria
// share. The functions are in a static library (CMake target stria::reader, or
// `stria_add_plugin(… READER)`); nothing of it can be seen outside the plugin that links it.
//
// Rules, beside those of stria/plugin.h about structs, texts and numbers:
// * A program that was read has passed the verifier's rules about names, types and order, so every
//   name in it means something. Its accesses are not proved: the host has done that.
// * Structures, their texts and arrays belong to the program or tree that they were got from. They
//   are read only and stay where they are until its release.
// * Arrays are arrays of pointers, none of which is null, with a count behind them. An array with
//   count 0 may be NULL.
// * An error that a function returns belongs to the caller, as in stria/plugin.h. On failure no
//   output parameter has been written. Out of memory is STRIA_OUT_OF_MEMORY, a broken assumption of
//   the library's own ends the process with exit code 4.
// * Thread tags are those of stria/plugin.h. A program or tree may be read from any thread at once.
#ifndef STRIA_READER_H
#define STRIA_READER_H

#include <stdint.h>

#include "stria/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// The Stripe text that this header describes: minors from 0 to this one are read. That is one more
// than host and plugin agree on (STRIA_STRIPE_MINOR of stria/plugin.h): 1.1 is the text of device
// programs with agents (docs/semantics.md, S16 to S19). No pass makes them, so only who gives such
// a program to a device meets it, and stria_reader_build refuses its kernels.
#define STRIA_READER_STRIPE_MAJOR 1
#define STRIA_READER_STRIPE_MINOR 1

// -------------------------------------------------------------------------------------------------
// Numbers and names

typedef int32_t stria_data_type;
enum {
  STRIA_BOOL = 0,  // one byte, 0 or 1
  STRIA_I8 = 1,
  STRIA_I16 = 2,
  STRIA_I32 = 3,
  STRIA_I64 = 4,
  STRIA_U8 = 5,
  STRIA_U16 = 6,
  STRIA_U32 = 7,
  STRIA_U64 = 8,
  STRIA_FP16 = 9,   // IEEE binary16
  STRIA_BF16 = 10,  // upper half of binary32
  STRIA_FP32 = 11,
  STRIA_FP64 = 12,
  // Types of inputs and outputs as an application sees them. No kernel has them: the host gives a
  // plugin their bytes as STRIA_U8, and kernels that take these apart and put them together.
  STRIA_FP8_E4M3 = 13,  // 3 bits of fraction, NaN, no infinity
  STRIA_FP8_E5M2 = 14,  // 2 bits of fraction, infinities, NaN
  STRIA_FP4 = 15,       // e2m1; two elements in a byte, the first in the lower bits, as of i4, u4
  STRIA_I4 = 16,
  STRIA_U4 = 17,
  STRIA_I2 = 18,  // four elements in a byte, as of u2
  STRIA_U2 = 19
};

// coefficient * name. Bare: it never grows.
typedef struct stria_term {
  stria_string name;
  int64_t coefficient;  // of an affine form, not 0; of a point, the index's value
} stria_term;

// constant + sum of terms, over the indices of the block that it stands in; where it says so, over
// those of the block around it.
typedef struct stria_affine {
  uint64_t size;
  const void* next;
  int64_t constant;
  const stria_term* terms;  // by name, each name once
  uint64_t term_count;
} stria_affine;

// A value of a tag, or a parameter of a special.
typedef int32_t stria_value_kind;
enum {
  STRIA_VALUE_NONE = 0,     // the tag's name alone
  STRIA_VALUE_BOOL = 1,     // `integer` is 0 or 1
  STRIA_VALUE_INTEGER = 2,  // `integer`
  STRIA_VALUE_NUMBER = 3,   // `number`
  STRIA_VALUE_TEXT = 4      // `text`
};

typedef int32_t stria_tag_class;
enum {
  STRIA_TAG_UNKNOWN = 0,    // means nothing by itself: a pipeline's own mark
  STRIA_TAG_SEMANTICS = 1,  // a rule of docs/semantics.md says what it means: obey it
  STRIA_TAG_HINT = 2,       // changes no value: may be ignored
  STRIA_TAG_PASSES = 3,     // one pass leaves it for another: ignore it
  STRIA_TAG_MARK = 4        // says what a kernel or block is: may be looked for
};

typedef struct stria_tag {
  uint64_t size;
  const void* next;
  stria_string name;  // without '#'
  stria_value_kind kind;
  stria_tag_class meaning_class;
  int64_t integer;
  double number;
  stria_string text;
  stria_string meaning;  // "its points run in parallel"; empty if unknown
} stria_tag;

// factor * the `bits` bits from `low_bit` on of the coordinate in dimension `dimension`.
typedef struct stria_bit_field {
  uint64_t size;
  const void* next;
  int32_t dimension;
  int32_t low_bit;
  int32_t bits;
  int32_t reserved;  // 0
  int64_t factor;
} stria_bit_field;

// Which lane, slot, … holds an element of a distributed refinement: constant + sum of fields.
typedef struct stria_owner {
  uint64_t size;
  const void* next;
  stria_string name;  // "lane", "slot", …
  int64_t constant;
  const stria_bit_field* const* fields;
  uint64_t field_count;
} stria_owner;

// One step of a location: a unit of the hardware model, and which instance of it. An index of the
// block that occurs in `instances` runs in parallel over the instances.
typedef struct stria_unit {
  uint64_t size;
  const void* next;
  stria_string name;
  const stria_affine* const* instances;
  uint64_t instance_count;
  const stria_owner* const* owners;
  uint64_t owner_count;
} stria_unit;

// -------------------------------------------------------------------------------------------------
// Blocks

typedef struct stria_block stria_block;

// Runs over 0, 1, … below `range`; with `from`, over from, from + 1, ….
typedef struct stria_index {
  uint64_t size;
  const void* next;
  stria_string name;
  int64_t range;
  const stria_affine* from;  // over the indices of the block around; may be NULL
  const stria_tag* const* tags;
  uint64_t tag_count;
} stria_index;

typedef struct stria_dimension {
  uint64_t size;
  const void* next;
  int64_t elements;
  int64_t stride;  // elements of the allocation between neighbours; may be 0 or negative
} stria_dimension;

// plugin.h has STRIA_IN, STRIA_OUT and STRIA_INOUT for views. This one allocates: what it holds
// lives for one point of its block.
enum { STRIA_ALLOCATION = 0 };

// How stores to one element combine.
typedef int32_t stria_aggregation;
enum {
  STRIA_ASSIGN = 0,  // they do not: a store replaces what was there
  STRIA_ADD = 1,
  STRIA_MUL = 2,
  STRIA_MAX = 3,
  STRIA_MIN = 4
};

// A view of a tensor of the block around, or an allocation.
typedef struct stria_refinement {
  uint64_t size;
  const void* next;
  int32_t direction;  // STRIA_ALLOCATION, or a stria_direction
  stria_data_type type;
  stria_string from;  // its name in the block around; empty of an allocation
  stria_string into;  // its name in this block
  // Where the view begins, one form per dimension, in elements of the dimension around.
  const stria_affine* const* access;
  uint64_t access_count;
  // The same as one number: elements of the allocation from the base of the view around. Its base
  // is that of its own element (0, 0, …).
  const stria_affine* flat_access;
  const stria_dimension* const* dimensions;  // outermost first; of the view at one point
  uint64_t dimension_count;
  int64_t span_bytes;  // from its lowest to the end of its highest element
  stria_aggregation aggregation;
  stria_data_type aggregation_type;   // that the running value is kept in
  const stria_unit* const* location;  // outermost step first; none: not said
  uint64_t location_count;
  // Of allocations: the first byte in its memory's arena (0 unless #placed), and the swizzle:
  // element e is stored at e ^ (((e >> shift) & (2^bits - 1)) << base); bits 0: none.
  int64_t offset_bytes;
  int32_t swizzle_bits;
  int32_t swizzle_base;
  int32_t swizzle_shift;
  uint8_t is_constant;  // 1: holds the same bytes in every run of a binding
  const stria_tag* const* tags;
  uint64_t tag_count;
} stria_refinement;

typedef int32_t stria_statement_kind;
enum {
  STRIA_LOAD = 1,        // $outputs[0] = load(inputs[0]): a scalar of a refinement's element
  STRIA_STORE = 2,       // outputs[0] = store($inputs[0]): combined by its aggregation
  STRIA_LOAD_INDEX = 3,  // $outputs[0] = the value of `affine`, as `type`
  STRIA_CONSTANT = 4,    // $outputs[0] = `integer` or `number`, as `type` is
  STRIA_INTRINSIC = 5,   // $outputs = name.type($inputs)
  STRIA_SPECIAL = 6,     // an operation on whole refinements, inputs and outputs
  STRIA_BLOCK = 7        // `block`
};

// Statements of a point run in order, unless the block is tagged #deps: then `dependencies` alone
// order them. Scalars have names with a leading '$' in the text; here they stand without it.
typedef struct stria_statement {
  uint64_t size;
  const void* next;
  stria_statement_kind kind;
  stria_data_type type;  // of LOAD_INDEX, CONSTANT and INTRINSIC
  stria_string name;     // of INTRINSIC and SPECIAL
  const stria_string* inputs;
  uint64_t input_count;
  const stria_string* outputs;
  uint64_t output_count;
  // LOAD and STORE: coordinates within the view that scalars choose, one name per dimension, empty
  // where none does. A load clamps them to the view, a store outside it does nothing.
  const stria_string* chosen;
  uint64_t chosen_count;
  const stria_affine* affine;          // of LOAD_INDEX, else NULL
  int64_t integer;                     // CONSTANT of integers (u64 as its bits) and bool
  double number;                       // CONSTANT of floats
  const stria_tag* const* parameters;  // of SPECIAL: names with values
  uint64_t parameter_count;
  const stria_block* block;      // of BLOCK, else NULL
  const uint64_t* dependencies;  // positions of earlier statements of the block
  uint64_t dependency_count;
  const stria_tag* const* tags;  // none of BLOCK: they stand on the block
  uint64_t tag_count;
} stria_statement;

// Runs its statements once per point of its indices at which every constraint is >= 0.
struct stria_block {
  uint64_t size;
  const void* next;
  stria_string name;  // may be empty
  const stria_unit* const* location;
  uint64_t location_count;
  const stria_tag* const* tags;
  uint64_t tag_count;
  const stria_index* const* indices;
  uint64_t index_count;
  const stria_affine* const* constraints;
  uint64_t constraint_count;
  const stria_refinement* const* refinements;
  uint64_t refinement_count;
  const stria_statement* const* statements;
  uint64_t statement_count;
  const stria_string* comments;
  uint64_t comment_count;
};

// An argument as the host binds it: element 0 of the whole tensor is at the argument's offset.
typedef struct stria_kernel_argument {
  uint64_t size;
  const void* next;
  stria_string name;  // the refinement of prologue or main
  stria_direction direction;
  stria_data_type type;
  uint64_t bytes;                  // least bytes behind the argument's offset
  const stria_refinement* tensor;  // the whole, in prologue or main
} stria_kernel_argument;

// A statement of prologue or main as a block, and what a stria_kernel_info says of it.
typedef struct stria_kernel_block {
  uint64_t size;
  const void* next;
  stria_string name;  // of the block; may be empty
  stria_program_part part;
  int32_t reserved;    // 0
  uint64_t statement;  // position in the part
  const stria_block* block;
  const stria_kernel_argument* const* arguments;  // out and inout first, then in
  uint64_t argument_count;
} stria_kernel_block;

typedef struct stria_program_view {
  uint64_t size;
  const void* next;
  const stria_block* entry;                  // its allocations are the program's tensors
  const stria_block* prologue;               // reads constants only; may be NULL
  const stria_block* main;                   // holds the kernels
  const stria_kernel_block* const* kernels;  // statements of prologue, then of main, in order
  uint64_t kernel_count;
} stria_program_view;

// -------------------------------------------------------------------------------------------------
// Programs

typedef struct stria_reader_program stria_reader_program;

// Reads device Stripe; the text is not needed afterwards. `name` stands for it in messages
// ("device program").
// Returns: STRIA_INVALID_ARGUMENT with one message per mistake, 20 at most. Of the text's form each
// has line, column, the line and a caret, and the error's `place` is "name:line:column" of the
// first; of what names mean each has the block's path, the statement or refinement and the rule |
// STRIA_INCOMPATIBLE for another version of the text.
// @threads any @blocks no @allocates yes @reenters no
stria_error* stria_reader_read(stria_string name, stria_string text,
                               stria_reader_program** program);
// @threads any @blocks no @allocates no @reenters no
const stria_program_view* stria_reader_view(const stria_reader_program* program);
// Trees that were built from it stay. NULL is fine. @threads handle @blocks no @allocates no
// @reenters no
void stria_reader_release(stria_reader_program* program);

// Proves the rules about executed loads and stores too, which the host has done for whatever it has
// built: for Stripe from elsewhere, such as what a pass of the plugin's own made. Takes as long as
// the program is large. STRIA_INVALID_ARGUMENT with one line per broken rule, 20 at most. What
// cannot be decided counts as kept.
// @threads any @blocks yes @allocates yes @reenters no
stria_error* stria_reader_verify(const stria_reader_program* program);

// The versions of Stripe text that the library reads: major, 0 to minor. Static.
// @threads any @blocks no @allocates no @reenters no
const stria_version_range* stria_reader_stripe_versions(void);

// "fp32"; empty if the number is none. Static. @threads any @blocks no @allocates no @reenters no
stria_string stria_reader_type_name(stria_data_type type);
// Bytes of an element; 0 if the number is none, and of types of fewer than 8 bits, whose elements
// share bytes. @threads any @blocks no @allocates no @reenters no
uint64_t stria_reader_type_bytes(stria_data_type type);

// -------------------------------------------------------------------------------------------------
// Changing a program: for passes of the plugin's own (stria_compiler_table.transform). Changes are
// seen in the texts that these functions give. The structures stay as the program was read, so a
// pass may look and change in turn. A block is one of stria_reader_view(program); one that lies in
// a block that was replaced is STRIA_FAILED_PRECONDITION, one of another program
// STRIA_INVALID_ARGUMENT, and one that stands for a special in `kernels`, which has no text of its
// own, STRIA_UNSUPPORTED. On failure nothing has changed. All are @threads handle @blocks no
// @allocates yes.

// Puts a tag on the block: `name` (letters, digits and '_') with the value of `kind`, one of NONE,
// INTEGER and TEXT. A tag of that name which is there gets the value. The other members are not
// read. @reenters no
stria_error* stria_reader_set_tag(stria_reader_program* program, const stria_block* block,
                                  const stria_tag* tag);
// Takes it off; a tag that is not there is no failure. @reenters no
stria_error* stria_reader_remove_tag(stria_reader_program* program, const stria_block* block,
                                     stria_string name);
// Puts another block in its place. `text` is one block, in the form of stria_reader_block_text;
// what its names mean is not looked at. STRIA_INVALID_ARGUMENT as stria_reader_read, with places in
// `text`. @reenters no
stria_error* stria_reader_replace(stria_reader_program* program, const stria_block* block,
                                  stria_string text);
// The block with the changes so far, as statement 0: "0: #kernel block [i:8] ( // kernel_0\n …".
// The sink is called once, with the name "stripe". @reenters yes
stria_error* stria_reader_block_text(const stria_reader_program* program, const stria_block* block,
                                     stria_text_sink sink, void* state);
// The program with the changes so far, which is what `transform` gives back. The sink is called
// once, with the name "stripe". @reenters yes
stria_error* stria_reader_program_text(const stria_reader_program* program, stria_text_sink sink,
                                       void* state);

// -------------------------------------------------------------------------------------------------
// Affine forms. All are @threads any @blocks no @allocates no.

// The value at a point, `count` indices with their values. STRIA_NOT_FOUND names an index that the
// point lacks, STRIA_OUT_OF_RANGE says that the value is beyond 64 bits. @reenters no
stria_error* stria_reader_evaluate(const stria_affine* form, const stria_term* point,
                                   uint64_t count, int64_t* value);

// The values that an index takes, both inclusive. Bare: it never grows.
typedef struct stria_range {
  stria_string name;
  int64_t lowest;
  int64_t highest;
} stria_range;
// The least and the largest value over a box of `count` indices, or the limits of 64 bits beyond
// them. STRIA_NOT_FOUND names an index that the box lacks, STRIA_INVALID_ARGUMENT one without
// values. @reenters no
stria_error* stria_reader_interval(const stria_affine* form, const stria_range* box, uint64_t count,
                                   int64_t* lowest, int64_t* highest);
// As Stripe writes it: "-1 + kx + 3*x". The sink is called once, with an empty name. @reenters yes
stria_error* stria_reader_affine_text(const stria_affine* form, stria_text_sink sink, void* state);

// -------------------------------------------------------------------------------------------------
// Kernels as trees: views, points and constraints are loops, addresses, conditions and arithmetic
// on typed values; guards, clipped bounds and the rules of division, NaN and conversion are written
// out. A tree decides nothing that the Stripe does not say.

typedef struct stria_tree_options {
  uint64_t size;
  const void* next;
  // Bytes of all allocations of one parallel point outside registers; 0: 262144.
  uint64_t stack_limit_bytes;
  // The memory unit whose allocations are registers; empty: "REG".
  stria_string register_unit;
  uint8_t narrow_indices;  // 1: 32-bit index arithmetic where no number of the kernel can leave it
  uint8_t no_peepholes;    // 1: leave out what makes trees faster and changes no value, to find out
                           // whether that is at fault (the build option of that name)

  // What a generator of your own can say beyond C (stria/tree.h). A tree that needs it is refused
  // by stria_reader_c_add. Nothing is chosen: the Stripe says what has lanes and what runs on
  // matrices.
  //
  // The most groups of lanes in each dimension of their grid; 0: no limit to the first one, 1 to
  // the others. If the others have 1, the first dimension alone numbers all groups.
  uint64_t largest_grid_x;
  uint64_t largest_grid_y;
  uint64_t largest_grid_z;
  // Lanes of a subgroup of a group, which hold matrices together, 1024 at most; 0: there are none,
  // and no MATRIX_… statements. The unit of subgroups in the model; empty: "SUBGROUP".
  uint64_t subgroup_lanes;
  stria_string subgroup_unit;
  // Loads of single elements in a row, from memory that a group shares, become one load of a vector
  // of so many bytes, 64 at most; 0: they stay.
  uint64_t shared_vector_bytes;
  // The widest vector of a #vector block, 1024 at most; wider blocks are loops. 0: 1, no vectors.
  int32_t most_lanes;
  uint8_t only_powers_of_two;  // 1: #vector blocks of 3, 5, 6, … lanes are loops, too
  uint8_t loads_across_slots;  // stria_tree_array::slot_lanes
  uint8_t no_micro_kernels;    // 1: #micro_kernel blocks are the loops that they mean
  uint8_t reserved;            // 0
} stria_tree_options;

typedef struct stria_tree_view {
  uint64_t size;
  const void* next;
  stria_string symbol;         // "k3_conv": the kernel's function in C
  uint64_t kernel;             // its number in stria_program_view
  stria_data_type index_type;  // STRIA_I32 or STRIA_I64
  int32_t reserved;            // 0
  // The kernel's parallel points are 0, 1, … below trip_count. Any may run at once. With
  // group_lanes > 1 a point is a group of so many lanes, which meet at barriers and share memory,
  // and grid[0] * grid[1] * grid[2] is trip_count.
  uint64_t trip_count;
  uint64_t group_lanes;
  uint64_t grid[3];
  const stria_string* notes;  // what was decided on the way, for people
  uint64_t note_count;
  // The plugin's functions that the kernel calls, by name, each once: #micro_kernel blocks
  // (docs/semantics.md S21). A plugin that lacks one of them cannot run the tree.
  const stria_string* micro_kernels;
  uint64_t micro_kernel_count;
} stria_tree_view;

typedef struct stria_reader_tree stria_reader_tree;

// The tree of kernel number `kernel` of the view. `options` may be NULL. Its nodes: stria/tree.h.
// Returns: STRIA_UNSUPPORTED or STRIA_OUT_OF_RANGE, with kernel, refinement and limit, for what a
// tree cannot say: such a kernel can still be interpreted (stria_host_services.kernel_create) |
// STRIA_INVALID_ARGUMENT for a number that is none, or an option beyond its limit.
// @threads any @blocks no @allocates yes @reenters no
stria_error* stria_reader_build(const stria_reader_program* program, uint64_t kernel,
                                const stria_tree_options* options, stria_reader_tree** tree);
// @threads any @blocks no @allocates no @reenters no
const stria_tree_view* stria_reader_tree_view(const stria_reader_tree* tree);
// The tree as text, for people. The sink is called once, with the kernel's symbol as the name.
// @threads any @blocks no @allocates yes @reenters yes
stria_error* stria_reader_tree_text(const stria_reader_tree* tree, stria_text_sink sink,
                                    void* state);
// NULL is fine. @threads handle @blocks no @allocates no @reenters no
void stria_reader_tree_release(stria_reader_tree* tree);

// -------------------------------------------------------------------------------------------------
// Kernels as C11, for gcc and clang on a 64-bit machine. One source holds any number of kernels.

// What a kernel's symbol is in the source: runs the parallel points from `first` to the one before
// `end`, for 0 <= first <= end <= trip_count. arguments[i] is element 0 of argument i. Different
// points may run at once, and one call after the other in any order.
typedef void (*stria_c_kernel)(void* const* arguments, int64_t first, int64_t end);

// Compile the source with these, and with no option that relaxes floating-point arithmetic, such as
// -ffast-math; link it with -lm.
#define STRIA_C_FLAGS "-std=c11 -fno-math-errno -fno-trapping-math"

// A micro-kernel: a function of the plugin that does a whole tile, which an instruction of the
// hardware model names by its `symbol`. Its operands come in the order of their names, their dims
// in the order of the model's `dims`. operands[i] is the first element of operand i. `sizes` and
// `strides` have one number for each dim of operand 0, then for each of operand 1, …: how many
// elements there are along it, and how many elements of memory one step goes. It adds to the
// operand that is written, only reads the others, and touches nothing else. It may run on several
// threads at once. What the model asks of strides and alignments holds; a tensor begins at a
// multiple of 64 bytes if the plugin's buffers do, as those of the C++ helper do.
typedef void (*stria_micro_kernel)(void* const* operands, const int64_t* sizes,
                                   const int64_t* strides);

// The C source calls a micro-kernel through a variable of that type, whose name is this and the
// function's: "stria_micro_product_8x8". Set it before a kernel of the source runs.
#define STRIA_MICRO_KERNEL_VARIABLE "stria_micro_"

typedef struct stria_c_source stria_c_source;

// An empty source. @threads any @blocks no @allocates yes @reenters no
stria_error* stria_reader_c_create(stria_c_source** source);
// Adds a kernel under the symbol of its tree's view; a symbol may come once.
// Returns: STRIA_UNSUPPORTED names what C cannot say, such as lanes that form groups; then nothing
// is added. @threads handle @blocks no @allocates yes @reenters no
stria_error* stria_reader_c_add(stria_c_source* source, const stria_reader_tree* tree);
// All of it. The sink is called once, with the name "kernels.c".
// @threads handle @blocks no @allocates yes @reenters yes
stria_error* stria_reader_c_text(const stria_c_source* source, stria_text_sink sink, void* state);
// NULL is fine. @threads handle @blocks no @allocates no @reenters no
void stria_reader_c_release(stria_c_source* source);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_READER_H
