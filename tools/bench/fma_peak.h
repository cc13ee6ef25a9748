// SPDX-License-Identifier: Apache-2.0
// The physical limit that benchmarks are held against: fused multiply-adds in registers.
#pragma once

namespace stria::bench {

struct FmaPeak {
  double gflops = 0;  // of all threads together
  double share = 0;   // of the time, in which the least lucky thread had a core
};
// fp32 GFLOP/s of `threads` threads that do nothing but independent fused multiply-adds with the
// widest vectors of this CPU, each for about `milliseconds`. One multiply-add counts two
// operations.
FmaPeak fma_peak(int threads, int milliseconds);
double fma_peak_gflops(int threads, int milliseconds);

// "512-bit", "256-bit" or "128-bit": the vectors that fma_peak_gflops uses here.
const char* fma_vector_name();

// What the calling thread reaches just now, in about 0.1 ms of its processor time.
double fma_probe_gflops();

}  // namespace stria::bench
