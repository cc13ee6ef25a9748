// SPDX-License-Identifier: Apache-2.0
// How a leaf block (loads, arithmetic and stores, no block inside) runs row by row: which index the
// rows lie along, in which order the other indices run, and the steps over columns. Each element
// that is written must see its writes in the same sequence. So an index may move in the order only
// if an element of each output determines it: the output's offset is injective in the indices it
// uses.
#pragma once

#include <memory>
#include <vector>

#include "stria/interp/columns.h"
#include "stria/interp/plan.h"

namespace stria::interp {

struct FlatPlan {
  // A load or a store. `value` is its column.
  struct Access {
    int ref = -1;
    int form = -1;
    int64_t stride = 0;              // along the row
    DataType type = DataType::fp32;  // of memory
    int value = -1;
    bool in_front = true;             // it stands before every store
    bool injective = false;           // each point of the block accesses an element of its own
    ColumnCombine combine = nullptr;  // stores with an aggregation
    const Builtin* combiner = nullptr;
  };
  // out = call(from…); if there is no typed loop, by the record's reference.
  struct Step {
    enum class Kind : uint8_t { call, convert, constant, index } kind = Kind::call;
    const Builtin* builtin = nullptr;
    DataType type = DataType::fp32;  // operation; convert, index: the target
    DataType in_types[3] = {};
    DataType out_type = DataType::fp32;
    int operands = 0;
    int from[3] = {-1, -1, -1};
    int out = -1;
    int form = -1;       // index
    int64_t stride = 0;  // index
    bool counts_zero_divisor = false;
    ColumnCall call = nullptr;
    Scalar constant;
  };
  int row = -1;            // index
  std::vector<int> order;  // the other indices of more than one point, outermost first
  std::vector<Access> loads, stores;
  std::vector<Step> steps;
  int columns = 0;
};

// Null if the block cannot run this way or is too small to gain.
std::shared_ptr<const FlatPlan> make_flat_plan(const BlockPlan& block);

}  // namespace stria::interp
