// SPDX-License-Identifier: Apache-2.0
// A Stripe block made ready to run: every name is a slot, every affine form a row of coefficients,
// every intrinsic a record. Made once, then constant; see engine.h for how it runs.
//
// All affine forms of a block (constraints, view offsets, load_index values, starts of the child
// blocks' indices) stand in one table, so that stepping an index is one vector addition.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/builtins/builtin.h"
#include "stria/stripe/block.h"

namespace stria::interp {

struct FlatPlan;

enum class OutOfRange : uint8_t { error, poison, zero };  // what a load outside gives

// constant + sum of coefficients[i] * index i, evaluated where it is needed.
struct Coordinate {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;
};

struct RefPlan {
  std::string name;
  int parent = -1;  // slot in the parent block; -1: an allocation
  stripe::RefDir dir = stripe::RefDir::none;
  TensorShape shape;
  int offset_form = 0;                  // elements from the parent view's base
  std::vector<Coordinate> coordinates;  // one per dimension: for clamping and messages
  OutOfRange out_of_range = OutOfRange::error;
  std::optional<stripe::Aggregation> agg;  // of the chain
  bool opens_aggregation = false;          // the outermost of its chain
  bool from_identity = false;              // of the chain: its outermost is `out`
  int aggregation = -1;  // opens_aggregation: which running aggregation of the run
  int allocation = -1;   // dir none: which allocation of the run
  int64_t arrivals = 0;  // of the chain: it holds phase barriers, which so many arrivals complete
};

// From `zero` on these are operations on whole views, and what orders them.
enum class Op : uint8_t {
  load,
  store,
  load_index,
  constant,
  intrinsic,
  block,
  zero,
  copy,
  barrier,
  wait,
  arrive
};

// A coordinate of a view that a scalar chooses, in elements of its dimension.
struct Choice {
  int scalar = -1;     // of integer type
  int64_t size = 0;    // of the view's dimension
  int64_t stride = 0;  // elements of the allocation
};

struct StmtPlan {
  Op op = Op::load;
  DataType type = DataType::fp32;  // of the result, or of the operation of an intrinsic
  uint8_t operands = 0;
  bool counts_zero_divisor = false;
  int ref = -1;     // load, store, wait, arrive; zero and copy: the output
  int source = -1;  // copy: the input
  int form = -1;    // load_index
  int child = -1;   // block
  int into = -1;    // scalar slot
  int from[3] = {-1, -1, -1};
  bool converts[3] = {false, false, false};
  DataType operand_types[3] = {};
  const Builtin* builtin = nullptr;
  Scalar constant;
  std::vector<Choice> chosen;  // load, store
};

struct BlockPlan {
  struct Index {
    std::string name;
    int64_t range = 1;
    int start_form = -1;   // of the parent's table; -1: starts at 0
    bool located = false;  // it occurs in the block's location
  };
  std::string name;  // for messages: "kernel_0", "kernel_0/1"
  int id = 0;        // position among all blocks of the plan
  int depth = 0;
  std::vector<Index> idxs;
  int constraint_count = 0;           // forms 0 .. constraint_count-1
  std::vector<int64_t> constants;     // one per form
  std::vector<int64_t> coefficients;  // [index][form]
  std::vector<RefPlan> refs;
  std::vector<DataType> scalars;  // type of each slot
  std::vector<StmtPlan> stmts;
  std::vector<std::unique_ptr<BlockPlan>> children;
  std::vector<int> allocations;          // slots of refs
  std::vector<int> aggregations;         // slots of refs that open one
  std::shared_ptr<const FlatPlan> flat;  // a leaf that can run row by row
  std::string unit;                      // the names of the location's units: "SM/TMA"
  bool is_async = false, in_order = false, is_roles = false;  // its tags (S17, S18)
  bool is_section = false;                                    // it holds kernels: #main, #prologue
  bool concurrent = false;  // it, or a block in it, is of those, waits or arrives

  size_t form_count() const { return constants.size(); }
  const int64_t* coefficients_of(size_t index) const {
    return coefficients.data() + index * form_count();
  }
};

struct Plan {
  std::unique_ptr<BlockPlan> root;
  int block_count = 0;
  int allocation_count = 0;
  int aggregation_count = 0;
};

// `root` is an entry block, whose refinements are all allocations. invalid_argument for what no run
// could give a meaning: unknown names, ranks or types that do not fit, stores into `in`
// refinements, mixed aggregations. unsupported: an unknown special or intrinsic.
Result<Plan> make_plan(const stripe::Block& root);

}  // namespace stria::interp
