// SPDX-License-Identifier: Apache-2.0
// What a run knows about memory: the elements of a tensor; for each of them whether it was ever
// written (else it is poison) and, in error-bound runs, its fp64 value and bound; and the running
// values of aggregations. Memory is addressed by offsets before swizzles: a swizzle only permutes
// addresses inside an allocation, and no value depends on it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::interp {

// Value and largest error of an element, beside its typed value.
struct Bounded {
  double value = 0;
  double bound = 0;
  bool undecided = false;
};

struct Aggregating;

// One tensor. Offsets count elements from the one of all-zero coordinates: lowest <= offset < end.
struct Buffer {
  char* data = nullptr;  // element of offset 0
  DataType type = DataType::fp32;
  int64_t lowest = 0;
  int64_t end = 0;
  const TensorShape* shape = nullptr;
  bool of_caller = false;  // then poison may not reach it
  // Element `offset` is valid exactly if valid[offset - lowest] == epoch; null: all are valid.
  std::unique_ptr<uint32_t[]> valid;
  uint32_t epoch = 1;
  std::unique_ptr<Bounded[]> bounded;  // only in error-bound runs; [offset - lowest]
  std::unique_ptr<char[]> own;         // the memory, unless it is the caller's
  Aggregating* growing = nullptr;      // the innermost aggregation into it that is running

  int64_t count() const { return end - lowest; }
  bool holds(int64_t offset) const { return offset >= lowest && offset < end; }
  bool is_valid(int64_t offset) const { return !valid || valid[offset - lowest] == epoch; }
  void set_valid(int64_t offset, bool is) {
    if (valid) valid[offset - lowest] = is ? epoch : 0;
  }
  // All elements become poison.
  void poison();
  // All elements are valid and, in error-bound runs, exact.
  void accept_content();

  // Memory of our own with the shape's strides, all poison.
  static Buffer allocate(const TensorShape& shape, bool with_bounds);
  // The caller's memory; `poisoned` if nothing in it counts as written yet.
  static Buffer wrap(void* data, const TensorShape& shape, bool poisoned, bool with_bounds);
};

// The running values of one execution of the block that holds the outermost refinement of a chain
// with an aggregation. `out` starts each written element from the identity, once; `inout`
// continues. Values stay in the aggregation type, and are rounded to the storage type once, at the
// end.
struct Aggregating {
  stripe::Aggregation agg;
  bool from_identity = false;
  bool widened = false;  // the aggregation type is not the storage type
  Buffer* buffer = nullptr;
  Aggregating* around = nullptr;  // the one that was running into the buffer before
  // Element `offset` has started exactly if started[offset - lowest] == epoch.
  std::vector<uint32_t> started;
  uint32_t epoch = 0;
  std::vector<char> running;  // widened: values of agg.type, [offset - lowest]
  // Offsets that have started, in order; kept if the end needs them.
  std::vector<int64_t> touched;
  // Error-bound runs, sums: number of terms, sum of |terms|, sum of the terms' bounds.
  struct Sum {
    double value = 0, magnitude = 0, bound = 0;
    int64_t terms = 0;
    bool undecided = false;
  };
  std::vector<Sum> sums;

  // Each store is a plain read-modify-write of memory, and no more.
  bool is_direct() const { return !from_identity && !widened; }
  void open(Buffer& target, const stripe::Aggregation& how, bool starts_from_identity,
            bool with_bounds);
  bool has_started(int64_t offset) const {
    return started[static_cast<size_t>(offset - buffer->lowest)] == epoch;
  }
  bool is_float_sum() const { return agg.op == stripe::AggOp::add && is_float(agg.type); }
  // No more values come.
  void close() { buffer->growing = around; }
  void start(int64_t offset) { started[static_cast<size_t>(offset - buffer->lowest)] = epoch; }
};

// op(a, b) in agg.type, which both have. The builtin of the same name.
Scalar combine(const stripe::Aggregation& agg, const Scalar& a, const Scalar& b);

}  // namespace stria::interp
