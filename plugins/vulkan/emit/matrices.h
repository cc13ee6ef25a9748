// SPDX-License-Identifier: Apache-2.0
// Matrices that the lanes of a subgroup hold together (SPV_KHR_cooperative_matrix). Each matrix of
// an array is one variable of the function: loops change it, and drivers keep it in registers.
#pragma once

#include <map>

#include "emit/kernel_memory.h"
#include "emit/module.h"
#include "emit/values.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

class Matrices {
 public:
  // For the function that the module is writing. `memory`: where matrices are loaded and stored.
  Matrices(Module& module, Values& values, KernelMemory& memory, const semtree::Function& function)
      : module_(module), values_(values), memory_(memory), function_(function) {}

  void add(const semtree::MatrixFill& fill);
  void add(const semtree::MatrixLoad& load);
  void add(const semtree::MatrixStore& store);
  void add(const semtree::MatrixMultiply& product);

  bool holds(const semtree::Place& place) const;
  // How many elements this lane holds of each matrix in the loop; a word.
  Id length(const semtree::ElementLoop& loop);
  // Its element of this number (a word) of the matrix that the place names.
  Id load(const semtree::Place& place, Id element);
  void store(const semtree::Place& place, Id element, Id value);

 private:
  const semtree::Array& array(int memory) const { return function_.array(memory); }
  Id type(DataType component, const semtree::Array::Fragment& form);
  Id type_of(int memory) { return type(array(memory).type, *array(memory).fragment); }
  Id variable(const semtree::FragmentRef& ref);
  Id value(const semtree::FragmentRef& ref);
  void set(const semtree::FragmentRef& ref, Id value);
  Id converted(DataType from, DataType to, const semtree::Array::Fragment& form, Id value);
  // The operands of a load or store that say how the matrix lies in memory.
  Words layout(const semtree::MatrixPlace& place, const semtree::Array::Fragment& form,
               const KernelMemory::MatrixPointer& at);
  Id element(const semtree::Place& place, Id number);

  Module& module_;
  Values& values_;
  KernelMemory& memory_;
  const semtree::Function& function_;
  std::map<std::pair<int, int64_t>, Id> variables_;  // by array and number
};

}  // namespace stria::vulkan
