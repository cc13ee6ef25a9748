// SPDX-License-Identifier: Apache-2.0
// The kernels of a device program, as every code generator meets them: which blocks they are, in
// launch order, and which arguments each has.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

// A statement of #prologue or #main as a block of its own.
struct KernelBlock {
  const stripe::Block* block = nullptr;   // of the program, or of ProgramKernels
  const stripe::Block* parent = nullptr;  // #prologue or #main
  bool in_prologue = false;
  int64_t statement = 0;  // position in the parent
};

// Points into the program, which must outlive it.
struct ProgramKernels {
  std::vector<KernelBlock> kernels;  // statements of #prologue, then of #main, in order
  std::deque<stripe::Block> made;    // a block for each special that is a statement of a part
};

// Verifies the program's structure, for text from elsewhere may be well-formed and still name what
// is not there. Its accesses are trusted.
Result<ProgramKernels> kernels_of(const stripe::Program& program);

struct KernelArgument {
  std::string name;  // the refinement of #prologue or #main
  DataType type = DataType::fp32;
  int64_t bytes = 0;      // from the base address to the end of the last element
  bool writable = false;  // an `out` or `inout` refinement
  bool readable = false;  // an `in` or `inout` refinement
  // What the function is given is the base address plus this: a multiple of kMemoryAlignment, 0
  // without BuildOptions::argument_offsets.
  int64_t offset_bytes = 0;
};

// The arguments of the function made from `kernel`: out and inout refinements in printed order,
// then in refinements.
std::vector<KernelArgument> arguments_of(const stripe::Block& kernel, const Function& function);

}  // namespace stria::semtree
