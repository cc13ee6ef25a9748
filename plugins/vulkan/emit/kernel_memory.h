// SPDX-License-Identifier: Apache-2.0
// Tensors and arrays of one kernel: how their elements are stored, and accesses to them.
//
// * Tensors are addresses, given by the caller. With integers of 64 bits every access computes its
//   own; else a pointer steps from element to element. Lanes in a row at an aligned place are
//   one access of up to 16 bytes; elements of 8 and 16 bits go in words of 32 then.
// * Arrays that lanes share lie one behind the other in the group's memory. If the device can view
//   that as elements of several types, accesses are wide as those of tensors; else each array is a
//   variable of its own, accessed element by element.
// * An array in registers is one variable for each element, which drivers keep in registers.
// * Other arrays are variables of their own.
#pragma once

#include <map>
#include <vector>

#include "emit/expressions.h"
#include "emit/features.h"
#include "emit/module.h"
#include "emit/requirements.h"
#include "emit/values.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

class KernelMemory {
 public:
  // Declares what tensors and arrays need, in the function that the module is writing. `addresses`:
  // of tensors (arguments.h), kept.
  KernelMemory(Module& module, Values& values, Expressions& expressions,
               const semtree::Function& function, const Features& features,
               const std::vector<Id>& addresses, bool any_offset);

  Lanes load(const semtree::Place& place);
  void store(const semtree::Place& place, const Lanes& lanes);

  // To the first element of a matrix, as a number or vector as wide as the matrix is aligned; by so
  // many of them are its lines apart.
  struct MatrixPointer {
    Id pointer = 0;
    int64_t stride = 0;
    Words access;
  };
  MatrixPointer matrix_pointer(const semtree::MatrixPlace& place,
                               const semtree::Array::Fragment& form);

 private:
  // Lanes that one access has, in a row.
  struct Run {
    size_t first = 0, lanes = 1;
  };
  // Where an access is: lane i of it at element offsets[i] (0: none) + constants[i].
  struct Elements {
    int memory = -1;
    std::vector<Id> offsets;
    std::vector<int64_t> constants;
    std::vector<Run> runs;
  };

  void declare_bases();
  void declare_array(int memory);
  bool is_shared(int memory) const;
  int64_t element_bytes(int memory) const;
  // Of an element in memory, and of several in a row.
  Id stored_type(int memory);
  Id stored_type(int memory, size_t lanes);

  bool may_be_wide(int memory) const;
  std::vector<Run> runs_of(const semtree::Place& place) const;
  // One access to the first elements of a matrix, as many as its alignment has.
  Run run_of(const semtree::MatrixPlace& place, const semtree::Array::Fragment& form) const;
  Elements elements(const semtree::Place& place);
  // To so many lanes of a tensor in a row. Their numbers step from element to element.
  Id tensor_pointer_type(int memory, size_t lanes);
  Id pointer(const Elements& at, const Run& run);
  Id tensor_pointer(const Elements& at, const Run& run);
  Id shared_pointer(const Elements& at, const Run& run);
  Id index_of(const Elements& at, size_t lane);
  Id index_constant(int64_t value);
  Words access(const Elements& at, const Run& run) const;

  Lanes load_run(const Elements& at, const Run& run);
  void store_run(const Elements& at, const Run& run, const Lanes& lanes);
  Lanes load_masked(const Elements& at, const semtree::Place& place);
  // An element as a value; of a word that holds several, number `part`.
  Id from_stored(int memory, Id stored);
  Id from_word(int memory, Id word, size_t part);
  Id to_stored(int memory, Id value);
  Id to_word(int memory, const Lanes& values, size_t first);
  Id& slot(int memory, int64_t element);

  Module& module_;
  Values& values_;
  Expressions& expressions_;
  const semtree::Function& function_;
  const Features& features_;
  const bool any_offset_;
  const std::vector<Id>& addresses_;
  SharedLayout layout_;
  std::vector<Id> variables_;                    // of arrays, by their number
  std::map<std::pair<int, size_t>, Id> bases_;   // of tensors, by the lanes of an access
  std::map<std::pair<int, int64_t>, Id> slots_;  // of arrays in registers
  std::map<Id, Id> views_;                       // of the group's memory, by type of the elements
};

}  // namespace stria::vulkan
