// SPDX-License-Identifier: Apache-2.0
// A kernel of a device's program as what it does: which loops run, which operations and accesses
// each statement is, and how often it runs. Predictions of times count with it.
//
//   0: #kernel #parallel block<CORE> [n:2, m:8] (…) {      loops: n 2, m 8 (beside each other),
//     0: block [i:16] (…) { … #vector block [j:8] …  }            i 16, j 8 (lanes)
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::cost {

// An index with several points.
struct NestLoop {
  double range = 1;
  bool parallel = false;  // its points run beside each other
  bool unrolled = false;  // its points are written out one after the other
  bool lanes = false;     // its points are the elements of vectors
  std::string unit;       // execution unit of the model that its block is on; "": that around it
};

// A tensor of the program, or an allocation of the kernel.
struct NestTensor {
  std::string name;
  std::string memory;  // the last unit of its location; "": none is said
  int64_t element_bytes = 1;
  double bytes = 0;      // all of it
  bool outside = false;  // it is there before and after the kernel
  // What the program touches between the last use of what the kernel touches of it and the kernel
  // (section_nests.h); 0 if only the kernel is known.
  double since_bytes = 0;
};

// elements = sum of stride * point, over the nest's loops.
using NestForm = std::vector<std::pair<size_t, int64_t>>;

struct NestAccess {
  size_t tensor = 0;
  NestForm form;
  bool stores = false;
  bool adds = false;      // what is stored joins what is there
  bool chosen = false;    // values choose the place: it may be anywhere
  bool streamed = false;  // it goes past the caches
};

// One statement. A product that is added up at once is one `multiply_add`.
struct NestOperation {
  enum class Kind { access, multiply_add, compute } kind = Kind::compute;
  NestAccess access;               // of an access
  DataType type = DataType::fp32;  // of what it computes
  double instructions = 1;         // of a computation, for one vector (builtins: Cost)
  std::vector<bool> depends;       // by loop of the nest: may its value change with it?
};

// The statements of one block, without those of blocks inside.
struct NestPiece {
  std::vector<size_t> loops;  // around it, outermost first
  double part = 1;            // of all points of these loops, those that meet the constraints
  std::vector<NestOperation> operations;
  int64_t lanes = 1;     // elements of a vector; 1: single values
  bool barrier = false;  // lanes wait for each other here
};

struct KernelNest {
  std::vector<NestLoop> loops;
  std::vector<NestTensor> tensors;
  std::vector<NestPiece> pieces;
  // How many points of a piece run, lanes apart: the constraints counted.
  double points(const NestPiece& piece) const;
  // How often the operation runs: loops that it does not depend on are left out where it can be
  // done before them, or once for all points that are written out.
  double runs(const NestPiece& piece, const NestOperation& operation) const;
};

// `kernel` is a statement of a section of a device's program. Specials count as no operations.
// Constraints are counted at 256 points that stand for all. Pure.
KernelNest kernel_nest(const stripe::Block& section, const stripe::Block& kernel);

}  // namespace stria::cost
