// SPDX-License-Identifier: Apache-2.0
// The parts of the generator of legal programs (legal_program.h): the program around, the blocks,
// the scalar statements.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dice.h"
#include "frame.h"
#include "legal_program.h"

namespace stria::trust {

class Maker {
 public:
  Maker(uint64_t seed, const LegalOptions& options) : dice_(seed), options_(options) {}

  stripe::Program program();

 private:
  // Every element of the first `sizes` of a view is to be written, of those that may be touched.
  struct Cover {
    std::string view;
    std::vector<int64_t> sizes;
  };
  // A view that a block writes to, and how.
  struct Target {
    const View* around = nullptr;
    stripe::RefDir dir = stripe::RefDir::out;
    std::optional<stripe::Aggregation> agg;
    std::vector<Affine> access;
    std::vector<int64_t> sizes;
    bool chosen = false;  // a scalar chooses the element
  };

  // --- legal_program.cc
  View& add_tensor(Frame& entry, const std::string& name, bool is_const);
  View& view_tensor(Frame& section, const View& tensor, stripe::RefDir dir);
  TensorShape shape(DataType type, const std::vector<int64_t>& sizes);
  void prologue(Frame& entry, Frame& main);
  void kernels(Frame& main, std::vector<std::string> to_cover);
  DataType type();
  std::vector<int64_t> sizes(size_t max_rank, int64_t max_size);
  stripe::Tags tags();

  // --- legal_block.cc
  // A block statement of `outer`, nested at most `levels` deep. With `cover` it writes all of that.
  stripe::Block block(Frame& outer, const Cover* cover, int levels);
  View* pick_target(Frame& outer);
  bool dedicate_indices(Frame& frame, Target& target, bool all, bool leaf);
  void extra_indices(Frame& frame);
  std::optional<stripe::Aggregation> aggregation(DataType type);
  void start(Frame& frame, Target& target, bool independent);
  void add_target(Frame& frame, const Target& target, bool leaf, bool overhang, bool shared);
  void make_view_of(Frame& frame, stripe::Refinement& ref);
  void add_read(Frame& frame, const View& around, bool leaf);
  std::optional<std::vector<Affine>> access(Frame& frame, const View& around,
                                            const std::vector<int64_t>& sizes, bool confined);
  std::optional<Affine> coordinate(Frame& frame, const std::vector<Affine>& lower,
                                   const std::vector<Affine>& upper, int64_t size, bool confined);
  Affine random_form(Frame& frame);
  void random_constraint(Frame& frame);
  void inside(Frame& frame, const Cover* cover, int levels);
  View& allocate(Frame& frame);
  void write_all(Frame& frame, const std::string& view, int levels);
  void special(Frame& frame);
  void mark(Frame& frame, bool independent, bool leaf);

  // --- legal_scalars.cc
  // Loads, arithmetic and stores with the views of one element; in a leaf also with larger ones, of
  // which scalars choose the element.
  void scalars(Frame& frame, bool leaf);
  std::string new_scalar(Frame& frame);
  using Scalars = std::vector<std::pair<std::string, DataType>>;
  void intrinsic(Frame& frame, Scalars& known);
  void constant(Frame& frame, Scalars& known, DataType type);
  void load_index(Frame& frame, Scalars& known);
  // An integer for each dimension of more than one element, none for the others.
  stripe::ChosenCoordinates choose(Frame& frame, Scalars& known, const View& view);
  void store(Frame& frame, Scalars& known, const View& view);

  Dice dice_;
  LegalOptions options_;
  int tensors_ = 0;
};

// Whether the whole view may be touched at every point.
bool is_confined(const Frame& frame, const View& view);

}  // namespace stria::trust
