// SPDX-License-Identifier: Apache-2.0
// What a tile of a kernel does and shows, as functions of its sizes: those of block_work.h, made
// for many tiles of one kernel. Names are looked up once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stria/cost/block/block_work.h"
#include "stria/cost/block/dram_time.h"
#include "stria/cost/block/tile.h"
#include "stria/stripe/block.h"

namespace stria::cost {

// Views are numbered as the block's refinements without its allocations. For one thread.
class KernelShape {
 public:
  // `at`: of each index that a tile has a size for, its position in the block. The other indices
  // have one value.
  KernelShape(const stripe::Block& block, const std::vector<size_t>& at);

  size_t views() const { return views_.size(); }
  // footprint_of() of a view's tile.
  Footprint footprint(size_t view, const Tile& tile) const;
  // walk_of() a view's tile. Holds until the next call.
  const Walk& walk(size_t view, const Tile& tile);
  // The strides of a view's tile that lies packed, elements.
  void packed_strides(size_t view, const Tile& tile, std::vector<int64_t>& out) const;
  // inner_stride_bytes() with these strides; with those of the tensor.
  int64_t inner_stride(size_t view, const Tile& tile, const std::vector<int64_t>& strides) const;
  int64_t inner_stride(size_t view, const Tile& tile) const {
    return inner_stride(view, tile, views_[view].strides);
  }
  // work_of() the tile; `operations` and `accesses` are those of a single point. Holds until the
  // next call.
  const BlockWork& work(const Tile& tile);

 private:
  struct Term {
    size_t index = 0;         // of the tile
    int64_t coefficient = 0;  // magnitude
  };
  struct Dim {
    int64_t size = 1;  // at one point
    std::vector<Term> terms;
  };
  // An index over which a view may step, and how far along each dimension.
  struct Step {
    std::optional<size_t> index;  // of the tile; none: of a block inside, it always steps
    std::vector<int64_t> by;
  };
  struct View {
    int64_t element_bytes = 1;
    std::vector<Dim> dims;
    std::vector<int64_t> strides;  // of the tensor, elements
    std::vector<size_t> rising;    // dims by rising magnitude of the stride
    std::vector<Step> steps;       // the innermost first
  };
  static double extent(const Dim& dim, const Tile& tile);
  static void add_steps(const stripe::Block& block, const std::string& name,
                        const std::vector<size_t>* at, std::vector<Step>& steps);

  std::vector<View> views_;
  BlockWork point_, work_;
  Walk walk_;
  std::vector<std::vector<double Product::*>> sides_;  // by product and index of the tile
};

}  // namespace stria::cost
