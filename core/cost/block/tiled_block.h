// SPDX-License-Identifier: Apache-2.0
// A block as the costs of its tiles see it: its indices, and how much of each tensor a tile of so
// many points shows. Every block has this form, whatever statements it has: at each point it
// touches a box of each view.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stria/cost/block/tile.h"
#include "stria/stripe/block.h"

namespace stria::cost {

// One dimension of a view.
struct TiledDim {
  struct Term {
    size_t index = 0;
    int64_t coefficient = 0;  // magnitude
    bool first = true;        // no dimension before this one moves with the index
    bool operator==(const Term&) const = default;
  };
  int64_t size = 1;    // at one point of the block, elements
  int64_t stride = 0;  // magnitude, elements of the tensor
  std::vector<Term> terms;
  bool operator==(const TiledDim&) const = default;
};

struct TiledView {
  std::string name;
  stripe::RefDir dir = stripe::RefDir::in;
  int64_t element_bytes = 1;
  int64_t sum_bytes = 1;       // of an element of the aggregation's type; element_bytes without one
  std::vector<TiledDim> dims;  // by rising stride
  std::vector<size_t> still;   // indices that do not move it
  bool reads() const { return dir != stripe::RefDir::out; }
  bool writes() const { return dir != stripe::RefDir::in; }
  bool operator==(const TiledView&) const = default;
};

// form >= 0.
struct TiledConstraint {
  int64_t constant = 0;
  std::vector<std::pair<size_t, int64_t>> terms;  // index, coefficient
  bool open = false;  // it also names values from outside: no tile surely meets it everywhere
  bool operator==(const TiledConstraint&) const = default;
};

struct TiledBlock {
  struct Index {
    std::string name;
    int64_t range = 1;
    bool reduction = false;  // occurs in the access of no written view
    bool operator==(const Index&) const = default;
  };
  std::string name;
  std::vector<Index> indices;    // of range over 1, in the block's order
  std::vector<TiledView> views;  // allocations are not among them
  std::vector<TiledConstraint> constraints;
  // Scalar operations of one point; storing into an aggregation is one.
  double operations = 0;
  DataType type = DataType::fp32;  // it works in this: the aggregation's type, else the output's

  std::vector<int64_t> ranges() const;
  bool operator==(const TiledBlock&) const = default;
};
TiledBlock tiled_block(const stripe::Block& block);

// In all of these a tile has a size for each index, 1 to its range.

// Elements along a dimension that a tile shows.
double extent(const TiledDim& dim, const Tile& tile);
// Elements of the box that a tile shows of a view: along each dimension as many as `extent_of`
// says.
double elements_of(const TiledView& view, const Tile& tile,
                   double (*extent_of)(const TiledDim&, const Tile&) = extent);
// Not above elements_of / points_of for any tile that is at least `low` and at most `high`, index
// by index.
double least_elements_of_point(const TiledView& view, const Tile& low, const Tile& high);
// Bytes of a view's tile in a scratchpad. If the tile cuts a reduction, sums are kept in the type
// that they are added up in.
double staged_bytes(const TiledBlock& block, const TiledView& view, const Tile& tile);

double points_of(const Tile& tile);
// Points of the indices that are no reductions.
double outputs_of(const TiledBlock& block, const Tile& tile);
// Tiles of the whole block, and those that differ in what they write.
double tiles_of(const TiledBlock& block, const Tile& tile);
double output_tiles_of(const TiledBlock& block, const Tile& tile);
// Points of all tiles over the points of the block, 1 or more: tiles that do not divide their range
// reach beyond it.
double padding_of(const TiledBlock& block, const Tile& tile);

// The number of tiles at the border: those in which the block's constraints, or the end of a range
// that the tile does not divide, leave points out or might. All tiles if that takes too many steps
// to count.
double border_tiles_of(const TiledBlock& block, const Tile& tile);

// "[ci:32, co:4, x:8]".
std::string to_string(const TiledBlock& block, const Tile& tile);

}  // namespace stria::cost
