// SPDX-License-Identifier: Apache-2.0
// oneDNN as the peer of the convolution and matrix product benchmarks. Measured against, never
// linked into the product.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace stria::bench {

// fp32 3x3 "same" convolution with ReLU, batch 1, channels last in and out. The weights are
// reordered into the layout oneDNN likes best before any timing; data tensors stay channels last,
// as ours do.
class OneDnnConvRelu {
 public:
  // d: [1, size, size, channels_in], k: [3, 3, channels_out, channels_in], both row-major, borrowed
  // during construction only.
  OneDnnConvRelu(int64_t size, int64_t channels_in, int64_t channels_out, const float* d,
                 const float* k);
  ~OneDnnConvRelu();
  // One synchronous run on OMP_NUM_THREADS threads.
  void run();
  const float* result() const;
  // The kernel oneDNN chose, for example "brgconv:avx512_core".
  std::string kernel_name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// fp32 product of two square matrices, row-major as they are given: what oneDNN packs, it packs in
// each run.
class OneDnnProduct {
 public:
  // a, b: [size, size], borrowed while the object lives.
  OneDnnProduct(int64_t size, const float* a, const float* b);
  ~OneDnnProduct();
  // One synchronous run on OMP_NUM_THREADS threads.
  void run();
  const float* result() const;
  std::string kernel_name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stria::bench
