// SPDX-License-Identifier: Apache-2.0
// How a work group computes one tile of a kernel: how the operands lie that it stages in local
// memory, how the tile is split over the group's lanes, how many registers hold its sums, and how
// groups are numbered. The rules are those of PlaidML's kernels without Stripe, as its text on
// kernel generation shows them.
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
  // For each of the table's indices that move the operand, by stride: the index and the `first` of
  // the StagedIndex that it is merged into.
  std::vector<std::pair<size_t, size_t>> merged;
  int64_t elements = 0;      // that it takes in local memory
  int64_t transactions = 0;  // of mem_width bytes that fetch it

  // Elements of local memory per step of each of the table's indices; 0 for an index that does not
  // move the operand.
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
  // The indices that move the output, by stride: neighbouring lanes write neighbouring elements.
  std::vector<Index> indices;
  int64_t lanes = 1;         // all of them together
  int64_t accumulators = 1;  // of one lane
  int64_t registers = 1;     // accumulators of all lanes of the group
  int64_t transactions = 1;  // of mem_width bytes that write one tensor's tile
};

// How the groups of one kernel are numbered: which dimension of the grid counts which index, and
// how.
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

// How the lanes of a group fetch or write a tensor's part: how many lanes each index has (powers of
// two), and in which order lanes are numbered.
struct CopyLanes {
  std::vector<int64_t> lanes;  // of each index
  std::vector<size_t> order;   // first the index along which lane and lane + 1 are neighbours
  int64_t total = 1;
};

// An index of a copy: its points, and elements of main memory from one to the next.
struct CopySide {
  int64_t range = 1;
  int64_t stride = 0;
};
// Should lanes be neighbours along `a` rather than along `b`? First comes an index of which one
// transaction of `elements` brings several points (of two such, that of the smaller stride), then
// the one that lanes divide best, then the longest.
bool takes_lanes_before(const CopySide& a, const CopySide& b, int64_t elements);

// The rows that a copy reads, in vectors if it may.
struct CopyRows {
  size_t index = 0;     // they lie along it
  int64_t vector = 1;   // elements that a lane may read at once; divides the index's points
  bool across = false;  // the other side takes a vector's elements one by one
};
struct CopyRounds {
  bool in_vectors = false;
  double rounds = 1;  // of each lane; in one it copies a vector, or an element
};
// `ranges`: points of each index, in the order in which lanes are numbered; lanes take powers of
// two of each. The copy goes in vectors if lanes then issue no more accesses. An element takes two
// accesses. A vector takes two as well, or, if the other side takes its elements one by one, one
// and as many as it has elements.
CopyRounds copy_rounds(std::span<const int64_t> ranges, const CopyRows& rows, int64_t group_lanes);

// The other side of a copy: a memory of banks, each of which hands out one element at a time.
struct BankedSide {
  int64_t banks = 0;             // 0: not known
  std::vector<int64_t> strides;  // elements, by index
};

// `ranges` and `strides` (elements of the tensor in main memory) are by index. Neighbouring lanes
// take the elements that one transaction of `elements` brings, then the indices that lanes divide
// best. They take more than one transaction of such elements in three cases only: the elements are
// in banks of their own on the other side; or lanes would go round more often with fewer of them;
// or rows begin at multiples of them, for then memory brings them in one go, which is worth more
// than banks.
CopyLanes plan_copy(const std::vector<int64_t>& ranges, const std::vector<int64_t>& strides,
                    int64_t group_lanes, int64_t elements, const BankedSide& other = {});

StagePlan plan_stage(const FlatTensor& input, const Tile& tile, const GroupSettings& settings);
LanePlan plan_lanes(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings);
// The same, written into an existing object: searches make many plans, and so take memory once.
void plan_stage(const FlatTensor& input, const Tile& tile, const GroupSettings& settings,
                StagePlan& out);
void plan_lanes(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings,
                LanePlan& out);
GridPlan plan_grid(const FlatKernel& kernel, const Tile& tile);

}  // namespace stria::cost
