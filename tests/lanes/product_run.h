// SPDX-License-Identifier: Apache-2.0
// Runs of the product of matrices of tests/matrix_kernel.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel_run.h"
#include "matrix_kernel.h"

namespace stria::lanes {

// What a run of the kernel gives, on tensors of small whole numbers.
class ProductRun {
 public:
  // Tensors begin at element `first` of their memory.
  explicit ProductRun(const test::MatrixKernel& kernel, int64_t first = 0)
      : kernel_(kernel), first_(first), function(kernel.function()) {
    for (size_t p = 0; p < function.params.size(); ++p) {
      memories_.emplace_back(function.params[p].type, first + function.params[p].span);
      for (int64_t i = 0; p > 0 && i < function.params[p].span; ++i)
        memories_[p].store(first + i, {convert(Scalar::of_int(DataType::i32, content(p, i)),
                                               function.params[p].type),
                                       false});
    }
  }

  // "", or what is found.
  std::string message(uint64_t seed = 1) {
    std::vector<Argument> arguments;
    for (Memory& memory : memories_) arguments.push_back({&memory, first_});
    return run_kernel(function, arguments, seed, counts, kernel_.subgroup).message();
  }
  // "", or an element of R that is wrong.
  std::string wrong() const {
    for (int64_t r = 0; r < kernel_.rows_there; ++r)
      for (int64_t c = 0; c < kernel_.columns_there; ++c) {
        int64_t sum = content(3, c);
        for (int64_t k = 0; k < test::MatrixKernel::kDepth; ++k)
          sum += content(1, r * test::MatrixKernel::kDepth + k) *
                 content(2, k * test::MatrixKernel::kColumns + c);
        const Value got =
            memories_[0].load(first_ + (kernel_.columns ? c * test::MatrixKernel::kRows + r
                                                        : r * test::MatrixKernel::kColumns + c));
        if (got.poison || got.scalar.to_double() != static_cast<double>(std::max<int64_t>(sum, 0)))
          return fmt::format("R[{}, {}] is {}{}, not {}", r, c, to_string(got.scalar),
                             got.poison ? " (never written)" : "", std::max<int64_t>(sum, 0));
      }
    return "";
  }
  // Of a change of the kernel, for several orders of the lanes.
  std::string found(const std::function<void(semtree::Function&)>& change) {
    change(function);
    std::string out;
    for (const uint64_t seed : {1, 2, 3}) {
      const std::string now = message(seed);
      if (now.empty()) return "";
      out = now;
    }
    return out;
  }

 private:
  static int64_t content(size_t param, int64_t i) {
    // Not the same if rows and columns change places.
    return (i * 7 + i / 16 * 2 + static_cast<int64_t>(param)) % 5 - (param == 2 ? 1 : 2);
  }

  test::MatrixKernel kernel_;
  int64_t first_;
  std::vector<Memory> memories_;

 public:
  semtree::Function function;
  RunCounts counts;
};

}  // namespace stria::lanes
