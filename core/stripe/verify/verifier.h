// SPDX-License-Identifier: Apache-2.0
// Tells whether a program obeys the rules of the IR. Runs after every pass in tests and debug
// builds, and on every Stripe file read. Messages name the block's path, the statement or
// refinement, the value and the rule. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::stripe {

// What a caller knows of an intrinsic that stripe cannot: see core/builtins.
struct IntrinsicSignature {
  int operands = 0;
};

// One instruction of a hardware model that does a whole stencil: what a #stencil block of its name
// is compared with (S14). With a symbol, a micro-kernel (S21).
struct StencilOperand {
  std::string name;  // "A"
  bool written = false;
  DataType type = DataType::fp32;
  std::vector<std::string> dims;  // the indices that it varies with, slowest first
  std::string home;               // memory unit
  // Who holds which element, by owner, over the operand's dims; empty: it is addressed.
  std::vector<std::pair<std::string, BitFieldForm>> fragment;
  // Of a micro-kernel: the steps that it wants, in elements, by dim; what the first element of each
  // row is a multiple of.
  std::map<std::string, int64_t> strides = {};
  int64_t align_bytes = 1;
};
inline constexpr int64_t kAnyRange = -1;
struct Stencil {
  std::string name;
  std::string unit;  // whose operation it is
  // With their ranges; kAnyRange: any from 2 on.
  std::vector<std::pair<std::string, int64_t>> indices;
  std::vector<StencilOperand> operands;
  std::string symbol = {};  // the plugin's function that does it; empty: the hardware does
};

// Selects among the rules about executed loads and stores, which need integer sets; all other rules
// are linear in the size of the program. Whoever changes a program that obeys all rules may ask
// only about those that the change can break.
struct AccessRules {
  bool inside = true;  // accesses lie inside their allocations, arguments inside their tensors
  // Points that are under way at once touch one element only to read it or to combine into it:
  // points of parallel indices and lanes of vectors (S2, S8); points of pipelines (S13).
  bool races = true;
  bool pipelines = true;
  bool barriers = true;  // what one lane stores another sees after a barrier (S11)
  bool owners = true;    // elements are touched by the lane that holds them (S12)
  bool poison = true;    // what lies beyond a #clamp view's tensor is not read (S10)
  bool stencils = true;  // a #stencil block is the model's stencil of its name (S14, S21)
  static AccessRules none() { return {false, false, false, false, false, false, false}; }
  bool operator==(const AccessRules&) const = default;
};

struct VerifyOptions {
  // Known intrinsics by name; null: any name and operand count passes. Borrowed.
  const std::map<std::string, IntrinsicSignature>* intrinsics = nullptr;
  // Units of the hardware model by name with their counts; null: any location passes. Borrowed.
  const std::map<std::string, int64_t>* units = nullptr;
  // How many points of a pipelined block one instance of a unit may have under way, by unit; null,
  // or a unit that is not there: any number. A location without a number leaves all instances of
  // `units` open. Borrowed.
  const std::map<std::string, int64_t>* pipeline_depths = nullptr;
  // Bytes of one instance of a memory unit that a #placed program has to fit into, by unit; null,
  // or a unit that is not there: any number. Borrowed.
  const std::map<std::string, int64_t>* memory_bytes = nullptr;
  // The model's stencils; null: #stencil blocks are compared with nothing. Borrowed.
  const std::vector<Stencil>* stencils = nullptr;
  AccessRules accesses;
};

struct VerifyReport {
  // What could not be decided within its budget; not an error.
  std::vector<std::string> warnings;
  int64_t accesses = 0;          // loads and stores checked
  int64_t proved_by_box = 0;     // by intervals alone
  int64_t unknown_accesses = 0;  // undecided, one warning each
};

// Ok, or invalid_argument with one line per broken rule (20 at most). `report`, if given, is filled
// either way.
Status verify(const Program& program, const VerifyOptions& options = {},
              VerifyReport* report = nullptr);

// May points of `kernel`, a block of #main, that differ in one of these indices store to one
// element of an aggregation that takes the values of all of them? The verifier lets parallel points
// do so; whoever runs them at once has to keep their stores apart. True if it cannot be decided.
// The program has passed the verifier.
bool combines_across_points(const Block& main, const Block& kernel,
                            const std::vector<std::string>& indices);
// The same for different lanes of one of its lane blocks (S11).
bool combines_across_lanes(const Block& main, const Block& kernel);

}  // namespace stria::stripe
