// SPDX-License-Identifier: Apache-2.0
// Tensors that several statements write piece by piece. These are the ways in which Tile joins
// tensors:
//
//   X[i : M + N] = =(A[i]) default Zero;            X[i : M + N] = =(A[i]);
//   O[i + M : M + N] = =(B[i]) default X;           Y[i + M : M + N] = =(B[i]);
//                                                   O = X + Y;
//
// A tensor that only one `default` reads need not exist, and neither need one of summed pieces that
// do not meet: its statement can write its part of the result at once. Otherwise each statement of
// a chain of n pieces would copy what those before it wrote.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stria/poly/affine.h"
#include "stria/tile/bind/bound.h"

namespace stria::lower_detail {

// Elements of a tensor, one inclusive range for each dimension.
using Box = std::vector<Interval>;

// `box` without the others, in boxes that do not meet; nullopt if there would be more than `limit`.
std::optional<std::vector<Box>> without(const Box& box, std::span<const Box> others, size_t limit);

// The elements that the contraction writes, if they are obviously a box.
std::optional<Box> written_box(const tile::BoundContraction& contraction);

class JoinedPieces {
 public:
  explicit JoinedPieces(const tile::BoundProgram& program);

  // The tensor that this one is written into as a part; as a rule itself.
  tile::TensorId place(tile::TensorId id) const { return of(id).place; }
  // Is it written together with others into one tensor?
  bool is_piece(tile::TensorId id) const { return of(id).piece; }
  // Are all elements of the box written again before anything reads them?
  bool is_written_again(tile::TensorId id, const Box& box) const;
  // Are the elements that the tensor's own statement leaves unwritten there already, or does
  // another statement write them?
  bool is_filled(tile::TensorId id) const { return of(id).filled; }
  // Is it a piece of a sum of floats? Such a sum makes 0.0 of -0.0.
  bool adds_zero(tile::TensorId id) const { return of(id).adds_zero; }
  // If the tensor is a sum that its pieces make up: the boxes that its own statement still has to
  // write with 0. Null if it is not.
  const std::vector<Box>* zeros(tile::TensorId id) const {
    return of(id).sum ? &of(id).zeros : nullptr;
  }

 private:
  struct Tensor {
    tile::TensorId place = 0;
    int reads = 0;    // by statements and, if it is an output, by whoever runs the program
    int writer = -1;  // statement
    bool piece = false, filled = false, adds_zero = false;
    bool sum = false;
    std::vector<tile::TensorId> summed;  // of a sum
    std::vector<Box> boxes;              // of a sum: what its pieces write
    std::vector<Box> zeros;
    size_t later = 0;  // how many boxes of its place's list are written after it
  };

  const Tensor& of(tile::TensorId id) const { return tensors_[static_cast<size_t>(id)]; }
  Tensor& of(tile::TensorId id) { return tensors_[static_cast<size_t>(id)]; }
  bool is_own(tile::TensorId id) const;
  bool is_like(tile::TensorId a, tile::TensorId b) const;
  Box whole(tile::TensorId id) const;
  std::optional<Box> summed_box(tile::TensorId id) const;
  void count_reads();
  void find_sum(const tile::BoundElementwise& sum);
  void place_default(const tile::BoundContraction& contraction);
  void place_sum(const tile::BoundElementwise& sum);
  void join(tile::TensorId id, tile::TensorId with);

  const tile::BoundProgram& program_;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<Box>> written_;  // of a place: boxes, the last statement's first
};

}  // namespace stria::lower_detail
