// SPDX-License-Identifier: Apache-2.0
// How long a processor of work groups takes for a product of matrices on its matrix units. Each
// group computes a tile of the result, step by step over the depth. Its lanes stage the operands of
// a step in local memory, and hold those of the next step meanwhile. The group's subgroups divide
// the tile; each loads its part of the operands as matrices and multiplies them. Terms, in cycles
// of the unit:
//
//   multiplying   rows * columns * depth / multiply-adds of the matrix units in a cycle. A unit's
//                 matrix units belong to its 4 parts, and a subgroup runs on one of them: with
//                 fewer subgroups, only some of the matrix units work
//   loading       bytes that are loaded as matrices / bytes of all banks
//   storing       bytes that are staged / bytes of all banks, twice that if rows do not fill all
//                 banks, and 60: these are the barriers; and (the operations for what is staged +
//                 20.7 for each element that is loaded alone, not in a vector) / multiply-adds of
//                 lanes in a cycle
//   fetching      bytes that are loaded for what is staged / bytes that a unit gets in a cycle
//   waiting       latency of global memory, and the time in which a subgroup issues its fetches:
//                 bytes that it loads / bytes of all banks
//   alone         max(waiting, multiplying + loading) + storing
//   beside        c groups: c * (the longer one of multiplying and loading + storing, and 0.8 times
//                 the shorter one)
//   step          max(alone, beside, c * fetching), doubled if the vectors of a staged row are no
//                 power of two, as lanes are
//   group         2 * latency + steps * step + 1.5 * bytes of the result / bytes that a unit gets
//                 + 20.7 for each element that is stored alone / multiply-adds of lanes in a cycle
//   all           full rounds of groups, and the last one of fewer
//
// In a step a lane loads no more than 64 elements alone.
//
// Source: our own measurements on a GPU of 132 units, 903 of hand-written kernels for products of
// 39 sizes in 19 tiles, and 105 of our own kernels. With a launch of 2.8 us the times are predicted
// to 8% and 9% (root mean square). The latency is the model's, as group_time has it. 0.8, 1.5, 60
// and the factor of uneven rows are fitted. That short rows take twice as long was measured with
// stores and barriers alone. The 20.7 are those of group_time.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/cost/workgroup/group_time.h"

namespace stria::cost {

// result[count, rows, columns] = sum over depth of left * right, elements.
struct MatrixProduct {
  int64_t count = 1, rows = 1, columns = 1, depth = 1;
  int64_t passes = 1;  // such products that are summed up in one result
  int64_t left_bytes = 2, right_bytes = 2, sum_bytes = 4;  // of an element
  // What lanes load for an element that they stage, and what they do with it.
  int64_t left_fetched_bytes = 2, right_fetched_bytes = 2;
  int64_t left_operations = 0, right_operations = 0;
  // Do lanes move vectors of 16 bytes of what they load, and of the result? Else single elements.
  bool left_in_vectors = true, right_in_vectors = true, sum_in_vectors = true;
  // Which rows lie one element behind the other in memory: along the depth, or along the result's
  // rows or columns?
  bool left_along_depth = true, right_along_depth = false;
};

// What a subgroup multiplies at once, and how fast a unit is at it.
struct MatrixUnit {
  int64_t rows = 1, columns = 1, depth = 1;
  int64_t subgroup_lanes = 1;
  double multiply_adds = 0;  // of a unit, in a cycle
};

struct MatrixTile {
  int64_t rows = 0, columns = 0, depth = 0;  // of a group, in a step
  int64_t row_subgroups = 1, column_subgroups = 1;
  int64_t group_lanes = 0;
  double groups = 0, steps = 0;
  double beside = 0;  // groups that a unit runs at once
  double local_bytes = 0, step_cycles = 0, cycles = 0;
};

// The tile that takes the shortest time: sizes are multiples of what the unit multiplies at once,
// and divide the product's. If these are no such multiples, the last tile goes beyond the end.
// nullopt: no tile fits.
std::optional<MatrixTile> shortest_matrix_tile(const MatrixProduct& product, const MatrixUnit& unit,
                                               const GroupRates& rates);
// The `most` best of them, by rising time.
std::vector<MatrixTile> matrix_tiles(const MatrixProduct& product, const MatrixUnit& unit,
                                     const GroupRates& rates, size_t most);

// In one line.
std::string to_string(const MatrixTile& tile);

}  // namespace stria::cost
