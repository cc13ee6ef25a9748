// SPDX-License-Identifier: Apache-2.0
// What has to be in memory, and in which order kernels may run. Both are read off the two outermost
// levels of a device program: its tensors (the entry block's allocations, the temporaries of
// #prologue and #main) and the kernels that a library offers for it. Nothing here touches a device.
//
// Temporaries share one arena per part. Two of them may lie at the same place if, in launch order,
// the last use of one comes before the first use of the other. Launches wait for exactly what their
// memory demands (read after write, write after read, write after write), never for mere launch
// order, so that independent kernels may overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/boundary/info.h"
#include "stria/stripe/block.h"

namespace stria::exec {

enum class TensorRole {
  input,      // the caller's, read only
  output,     // the caller's, written (and read, if `dir` is inout)
  derived,    // written by the prologue, read by main: lives as long as a binding
  temporary,  // of one part: lives for one run of it
};

struct PlannedTensor {
  std::string name;  // of the entry's allocation, or of the part's
  TensorRole role = TensorRole::temporary;
  stripe::RefDir dir = stripe::RefDir::in;  // of the caller's tensors
  TensorShape shape;                        // as allocated
  uint64_t bytes = 0;
  uint64_t offset = 0;          // derived and temporary: bytes from the start of their arena
  bool prologue_reads = false;  // inputs: a constant, whose content a binding fixes
};

struct PlannedArgument {
  size_t tensor = 0;    // position in Plan::tensors
  uint64_t offset = 0;  // bytes from the tensor's start
};

struct PlannedKernel {
  size_t library_index = 0;  // position in the library's list
  std::string name;
  std::string interpreted;                 // as in hal::KernelInfo
  std::vector<PlannedArgument> arguments;  // in the library's order
  std::vector<uint32_t> after;             // positions of earlier kernels of the same part, rising
};

struct PlannedPart {
  std::vector<PlannedKernel> kernels;  // in launch order
  uint64_t arena_bytes = 0;            // of its temporaries
  // The most bytes of temporaries alive at once in launch order: no plan needs less.
  uint64_t live_bytes = 0;
};

struct Plan {
  std::string program;  // name, for messages
  std::vector<PlannedTensor> tensors;
  std::vector<size_t> inputs;   // main's in printed order, then those only the prologue reads
  std::vector<size_t> outputs;  // in printed order
  PlannedPart prologue;
  PlannedPart main;
  uint64_t derived_bytes = 0;  // arena of the derived tensors
};

// Every tensor in an arena starts at a multiple of this.
inline constexpr uint64_t kArenaAlignment = 256;

// `kernels` is what the library of `program` lists. Each statement of the parts has exactly one
// kernel, in their order, or a part has one kernel for all; each kernel takes what its statement's
// refinements say. Otherwise hal::kPluginFault. invalid_argument if the program reads what nothing
// has written. Time: linear in the program, except for the placement of n temporaries, which takes
// n^2 comparisons at worst.
Result<Plan> make_plan(const stripe::Program& program, const std::vector<hal::KernelInfo>& kernels);

}  // namespace stria::exec
