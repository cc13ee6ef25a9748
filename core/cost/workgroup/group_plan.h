// SPDX-License-Identifier: Apache-2.0
// How a work group computes one tile of a kernel: layouts of the operands that it stages in local
// memory, how the tile is split over its lanes, how many registers hold its sums, and how groups
// are numbered. The rules are those of PlaidML's kernels without Stripe, as its text on kernel
// generation shows them.
#pragma once

#include <array>
#include <span>
#include <utility>

#include "stria/cost/block/flat_kernel.h"
#include "stria/cost/block/tile.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Indices of an operand that walk through the same memory, merged into one.
struct StagedIndex {
  size_t first = 0;  // the one of the smallest stride, of the table
  int64_t range = 1;
  int64_t global_stride = 0;  // elements
  int64_t local_stride = 0;   // elements; odd where it can be, so that lanes meet different banks
};

// An operand's tile in local memory.
struct StagePlan {
  std::vector<StagedIndex> indices;  // by local stride
  // Of each of the table's indices that move the operand, by stride, the `first` of what it is
  // merged into.
  std::vector<std::pair<size_t, size_t>> merged;
  int64_t elements = 0;      // of local memory
  int64_t transactions = 0;  // of mem_width bytes that fetch it

  // Elements of local memory per step of each of the table's indices; 0 where it does not move.
  std::vector<int64_t> local_strides(const FlatTensor& input) const;
  // The table's indices merged into this one.
  std::vector<size_t> members(const StagedIndex& index) const;
  // Their names, joined: "j_y".
  std::string name(const FlatKernel& kernel, const StagedIndex& index) const;
};

struct LanePlan {
  struct Index {
    size_t index = 0;  // of the table
    int64_t lanes = 1;
    int64_t steps = 1;  // of each lane: ceil(tile / lanes)
  };
  std::vector<Index>
      indices;  // that the output varies with, by stride: neighbouring lanes, neighbouring elements
  int64_t lanes = 1;         // all of them together
  int64_t accumulators = 1;  // of a lane
  int64_t registers = 1;     // accumulators of all group_lanes of the group
  int64_t transactions = 1;  // of mem_width bytes that write one tensor's tile
};

// Groups of one kernel: which dimension of a grid counts which index, and how.
struct GridPlan {
  struct Index {
    size_t index = 0;
    int64_t groups = 1;  // along it
    int dimension = 0;
    int64_t divisor = 1;  // its number: coordinate / divisor % groups
  };
  std::vector<Index> indices;
  std::array<int64_t, 3> sizes = {1, 1, 1};
};

// How the lanes of a group fetch or write a tensor's part: lanes of each index, powers of two, and
// in which order they number it.
struct CopyLanes {
  std::vector<int64_t> lanes;  // of each index
  std::vector<size_t> order;   // the index whose neighbours are neighbouring lanes first
  int64_t total = 1;
};

// An index of a copy: its points, and elements of main memory from one to the next.
struct CopySide {
  int64_t range = 1;
  int64_t stride = 0;
};
// Which index lanes are neighbours along first: that of which one transaction of `elements` brings
// several, then the one that lanes divide best, then the longest.
bool takes_lanes_before(const CopySide& a, const CopySide& b, int64_t elements);

// Rows that a copy reads, in vectors if it may.
struct CopyRows {
  size_t index = 0;     // along which they lie
  int64_t vector = 1;   // elements, which divide the index's points, that a lane may read at once
  bool across = false;  // the other side takes a vector's elements one by one
};
struct CopyRounds {
  bool in_vectors = false;
  double rounds = 1;  // of each lane: of a vector each, or of an element
};
// `ranges`: points of each index, in the order that lanes number them, powers of two of each. In
// vectors where lanes then issue no more accesses: of single elements two for each, of vectors two,
// or one and as many as they have elements.
CopyRounds copy_rounds(std::span<const int64_t> ranges, const CopyRows& rows, int64_t group_lanes);

// The other side of a copy, in a memory of banks that each hand out an element at a time.
struct BankedSide {
  int64_t banks = 0;             // 0: not known
  std::vector<int64_t> strides;  // elements, by index
};

// `ranges` and `strides` (elements, of the tensor in main memory) by index: neighbouring lanes take
// the elements that one transaction of `elements` brings, then the indices that lanes divide best.
// More than one transaction of them only as far as they are in banks of their own on the other
// side, or as lanes would go round more often with fewer of them, or as rows begin at multiples of
// them: then memory brings them in one go, which is worth more than banks.
CopyLanes plan_copy(const std::vector<int64_t>& ranges, const std::vector<int64_t>& strides,
                    int64_t group_lanes, int64_t elements, const BankedSide& other = {});

StagePlan plan_stage(const FlatTensor& input, const Tile& tile, const GroupSettings& settings);
LanePlan plan_lanes(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings);
// The same into what is there already, for searches that make many: memory is taken once.
void plan_stage(const FlatTensor& input, const Tile& tile, const GroupSettings& settings,
                StagePlan& out);
void plan_lanes(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings,
                LanePlan& out);
GridPlan plan_grid(const FlatKernel& kernel, const Tile& tile);

}  // namespace stria::cost
