// SPDX-License-Identifier: Apache-2.0
// A contraction and the elementwise kernels after it as a table: one row for each index, one column
// of strides for each tensor. Some costs of tiles need no more of a kernel. Plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct FlatTensor {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> strides;  // elements per step of each index, in the table's order
  int64_t offset = 0;            // elements, at the point where all indices are 0
  bool operator==(const FlatTensor&) const = default;
};

// sum(coefficients[i] * index i) <= bound.
struct FlatConstraint {
  std::vector<int64_t> coefficients;
  int64_t bound = 0;
  bool operator==(const FlatConstraint&) const = default;
};

struct FlatKernel {
  struct Index {
    std::string name;
    int64_t range = 1;
    bool operator==(const Index&) const = default;
  };
  std::vector<Index> indices;  // by name; indices of one value are folded into the offsets
  FlatTensor output;           // of the contraction
  std::vector<FlatTensor> inputs;
  std::vector<FlatConstraint> constraints;
  int64_t post_operations = 0;        // scalar operations for each output element afterwards
  std::vector<DataType> post_inputs;  // tensors that these read besides the contraction's output
  int64_t written_tensors = 1;        // tensors written that outlive these kernels

  bool writes_apart(size_t index) const { return output.strides[index] != 0; }
  bool operator==(const FlatKernel&) const = default;
};

// Makes the table of `kernel` and of the elementwise kernels `post` that follow it on its output,
// in order. All are blocks of `main`; `kernel` is one leaf of loads, operations and one store.
// unsupported, with the reason, for any other form.
Result<FlatKernel> flatten(const stripe::Block& main, const stripe::Block& kernel,
                           std::span<const stripe::Block* const> post = {});

// The elementwise kernels of `main` right behind its statement `position` that go on with what that
// statement writes. Each is a leaf without aggregations that reads a result of those before it,
// once for each of its points.
std::vector<const stripe::Block*> following_kernels(const stripe::Block& main, size_t position);

// The table as text: rows of indices and offsets, then the constraints.
std::string to_string(const FlatKernel& kernel);

}  // namespace stria::cost
