// SPDX-License-Identifier: Apache-2.0
// How a program falls into parts that know nothing of each other: which tensors are cut along which
// dimension, and which index of each kernel walks over the units of that cut.
//
//   O[n, x, co] = +(D[n, x + i, ci] * K[i, ci, co])     D and O cut along n, K whole in every part
//   R = relu(O)                                         R cut along n
//
// A part is the program on its units alone. That is right if in each kernel all that belongs to one
// unit is written from what belongs to the same unit, and from tensors that are whole; this is
// proven from the accesses. For index `i` of a kernel and a cut of `rows` rows a unit, an access
//
//   m * (i + offset) + rest,   0 <= rest < m for all points,   rows = m * per_unit
//
// stays in the rows of unit (i + offset) / per_unit. What is not of that form needs the whole
// tensor: an input is whole then; a tensor that the program computes is computed in every part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/runtime/compilation.h"
#include "stria/several/cut.h"

namespace stria {

// What a part runs of one kernel.
struct KernelShare {
  enum class Kind {
    whole,  // all of it
    index,  // the points whose `index` is of its units
    unit,   // all of it if `unit` is one of its units, else nothing
  };
  Kind kind = Kind::whole;
  std::string index;
  int64_t per_unit = 1;  // values of the index that make one unit
  int64_t offset = 0;    // the unit of a value is (value + offset) / per_unit
  int64_t unit = 0;
  bool operator==(const KernelShare&) const = default;
};

// Plain value.
struct Split {
  int64_t units = 1;                 // that there are to share out
  std::map<std::string, Cut> cuts;   // by the names of tensors in main; all others are whole
  std::vector<KernelShare> kernels;  // one for each statement of main
  // Of the work of a run, the part that does not become less with more parts; 0 to 1.
  double repeated = 0;
  uint64_t whole_bytes = 0;  // of the inputs that every part has
};

struct SplitLimits {
  size_t parts = 2;  // that are wanted
  // A split that repeats more of the work than this in every part is refused.
  double most_repeated = 0.25;
};

// The split of the least work for each part, up to a unit; of equal ones that with the fewest bytes
// of whole inputs, then the one along the outermost dimension. Every output is cut, or computed in
// every part from what is whole anyway. unsupported if there is none: says for each dimension of
// each output which kernel and tensor stop it. Pure.
Result<Split> find_split(const Compilation& program, const SplitLimits& limits = {});

// The program of the part with these units. A function of its arguments: parts of as many units are
// equal, unless a kernel uses the number of its unit as a value or in a condition.
// out_of_memory for its rows of the weights that the program brings along.
Result<Compilation> part_of(const Compilation& program, const Split& split, const UnitRange& units);

}  // namespace stria
