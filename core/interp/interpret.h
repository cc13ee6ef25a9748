// SPDX-License-Identifier: Apache-2.0
// Runs Stripe. This defines what a Stripe program means, and every test compares with it. It runs
// all statements, types, aggregations and blocks; parallel blocks run as plain loops in
// lexicographic order. What a program must not do is never undefined behaviour. It is an error that
// names block, refinement and element:
//
// * an executed load or store outside its allocation (except loads through #clamp or #zero_fill);
// * a value that was never written (poison) reaching a tensor of the program's caller;
// * an output element that is never written.
//
// Calls are independent of each other: a Plan is constant, and all state of a run lives in the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"
#include "stria/type/flushed_types.h"

namespace stria::interp {

// A tensor of the caller, for one input or output of a program. `name` is that of the entry block's
// allocation. `data` points to the element of all-zero coordinates, aligned to the element size;
// the shape has the allocation's type and sizes, its strides may differ. Borrowed for the call.
struct TensorArg {
  std::string name;
  void* data = nullptr;
  TensorShape shape;
};

// Things that are defined, but usually a mistake; counted for each executed operation.
struct Events {
  int64_t division_by_zero = 0;     // integer div or mod with a zero divisor
  int64_t conversion_overflow = 0;  // float to integer: NaN, or saturated
  int64_t clamped_reads = 0;     // loads moved into range: #clamp, #zero_fill, chosen coordinates
  int64_t dropped_writes = 0;    // stores whose chosen coordinate is outside the view
  int64_t concurrent_steps = 0;  // of kernels in which several agents go on at once (S16)
  // Stores that combine into an element of floats in any order with those of another agent: how it
  // is rounded depends on the interleaving (M10).
  int64_t unordered_sums = 0;
  Events& operator+=(const Events& other);
  bool operator==(const Events&) const = default;
};

struct Interleaving;

struct InterpOptions {
  bool flat_path = true;         // run leaf blocks row by row; off for tests of that path
  bool need_all_outputs = true;  // an output element that is never written is an error
  Events* events = nullptr;      // if given, events are added to it
  // Of kernels in which several agents go on at once (S16); null: the plain one. Borrowed.
  const Interleaving* interleaving = nullptr;
  FlushedTypes flushed;  // of error bounds: what the device may take for zero
};

// One input or output of a program, as its caller sees it.
struct ProgramTensor {
  std::string name;  // of the entry's allocation
  TensorShape shape;
  stripe::RefDir dir = stripe::RefDir::in;
};
// Inputs: `in` refinements of main and prologue, main's first, each tensor once. Outputs: `out` and
// `inout` of main. failed_precondition without a #main block.
Result<std::vector<ProgramTensor>> program_inputs(const stripe::Program& program);
Result<std::vector<ProgramTensor>> program_outputs(const stripe::Program& program);

// Runs prologue and main. `tensors` has every input and output once; an `inout` output is read too.
// invalid_argument: a name, type or size that does not fit, or an access the program must not do;
// then outputs hold unspecified values. unsupported: a special that does not exist.
Status interpret(const stripe::Program& program, const std::vector<TensorArg>& tensors,
                 const InterpOptions& options = {});

}  // namespace stria::interp
