// SPDX-License-Identifier: Apache-2.0
// How one language of the C family spells what the kernel tree says: a table that a code generator
// hands to CPrinter. The printer knows the syntax that all of them share (operators, casts, loops,
// calls) and the rules that C breaks (signed overflow, promotion of narrow integers); the table has
// the rest.
//
// A spelling is text with placeholders:
//   $0 $1 …   operands, as the key's comment says
//   $T $S     type of the result, of the first operand ("float8")
//   $t $s     their element types by our names ("fp32")
//   $I $J     signed integer type as wide as an element of $T, of $S, with the same lanes
//   $U        unsigned integer type as wide as an element of $T, with the same lanes
//   $n        lanes, nothing if 1
// What a dialect itself defines begins with "stria_" or "STRIA_": source_names.h says whose names
// are which.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

struct Spelling {
  std::string text;
  std::vector<std::string> helpers;  // keys of Dialect::helpers that the text calls
};

struct Dialect {
  // Element types as values. A type that is missing is not supported. A vector type is named by its
  // element type, `vector_mark` and the number of lanes. A vector of truth values is of the type
  // `lane_mask`, with all bits of a lane set or none. fp16 and bf16 are the bits of a number;
  // conversions are spelled below.
  std::map<DataType, std::string> types;
  // The same as elements of memory, and as lanes of a vector, where those differ.
  std::map<DataType, std::string> memory_types, lane_types;
  std::string lane_mask;
  std::string vector_mark;

  // Spellings by key. A key is tried with ".<type>" ("fp32"), ".<class>" ("float", "signed",
  // "unsigned", "bool") and alone, each first with ".lanes" behind it if there are several. The
  // type is the result's; of comparisons and conversions the operand's. Keys:
  //   an operation's name (semtree::name_of), a function of mathematics by its builtin ("exp")
  //   "convert.<from>.<to>", "convert.<from class>.<to>", "convert.<from class>.<to class>"; else a
  //       cast, of lanes "convert"
  //   "literal.infinity", "literal.nan"
  //   "load": lanes from address $0
  //   "store": lanes $1 to address $0
  //   "load.aligned", "store.aligned" (an array that lanes share), "load.parameter",
  //       "store.parameter" (a tensor): the same for an address that is a multiple of the vector,
  //       if the memory begins at a multiple of kMemoryAlignment bytes; may be missing
  //   "lanes": a vector of the values $0, separated by commas; without it "($T)($0)"
  //   "component": lane $0 of vector $1; $0 is one hexadecimal digit
  //   "to_mask": a comparison of lanes $0 as a mask
  //   "mask_as": mask $0 as wide as $T
  //   "mask_bits": mask $0 as 0 or 1
  //   "reinterpret": the bits of $0 as $T
  //   "barrier": of all lanes of a group
  //   "barrier.parameters": one that orders what they store in parameters too
  //   "instruction.<name>.<type of operand>.<type>…": an operation of the hardware; $0, $1, … are
  //       the registers of the first operand, then of the second, …
  //   "micro_kernel": a call of the plugin's function $0; $1 are the addresses of its operands, $2
  //       the sizes of all their dims, $3 the strides, each separated by commas; it may have lines
  //   "pair": the bits of two elements of 16 bits, one register of $0
  //   "select": of lanes, mask $0 ? $1 : $2
  //   "any", "all": of mask $0
  //   "nan_max", "nan_min": of floats, NaN propagates
  std::map<std::string, Spelling> spellings;
  // Functions that spellings call, emitted once for each set of types that is used.
  std::map<std::string, Spelling> helpers;

  // The first line of a kernel: $0 points of a group, $1 name, $2 parameters, $3 the same behind a
  // comma, nothing if there are none.
  std::string kernel;
  std::string pointer_space;  // before the type of a parameter
  std::string no_alias;       // behind its star
  std::string point;          // number of the parallel point that runs
  // Not empty: a kernel runs the points from `first_point` to the one before `end_point`, which are
  // among those of the function, in a loop of its own; there is no `point`.
  std::string first_point, end_point;
  std::array<std::string, 3> group;  // number of the group, in each dimension of the grid
  std::string lane;                  // number of the lane in it; empty: the language has no groups
  std::string shared_space;          // before the type of an array that the lanes of a group share
  std::string shared_aligned;        // behind it: it begins at a multiple of kMemoryAlignment bytes
  std::string aligned;   // before an array that begins at a multiple of kMemoryAlignment bytes
  std::string preamble;  // at the top of the source
};

// "float", "signed", "unsigned" or "bool".
std::string_view class_of(DataType type);

}  // namespace stria::semtree
