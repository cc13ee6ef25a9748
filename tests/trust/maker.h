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
  // What a block that is asked for has to do.
  struct Wish {
    const Cover* cover = nullptr;    // it writes all of that
    std::string target;              // else: it writes to this view; "" = any
    std::vector<std::string> reads;  // views that it reads, beside others, and that matter
    bool lanes = false;              // its points are lanes
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
  // A block statement of `outer`, nested at most `levels` deep.
  stripe::Block block(Frame& outer, const Wish& wish, int levels);
  View* pick_target(Frame& outer);
  bool dedicate_indices(Frame& frame, Target& target, bool all, bool leaf);
  void extra_indices(Frame& frame);
  std::optional<stripe::Aggregation> aggregation(DataType type);
  void start(Frame& frame, Target& target, bool independent);
  void add_target(Frame& frame, const Target& target, bool leaf, bool overhang, bool shared);
  void make_view_of(Frame& frame, stripe::Refinement& ref);
  // `wished`: its statements have to use what it reads. True if there is a view.
  bool add_read(Frame& frame, const View& around, bool leaf, bool wished = false);
  std::optional<std::vector<Affine>> access(Frame& frame, const View& around,
                                            const std::vector<int64_t>& sizes, bool confined);
  std::optional<Affine> coordinate(Frame& frame, const std::vector<Affine>& lower,
                                   const std::vector<Affine>& upper, int64_t size, bool confined);
  Affine random_form(Frame& frame);
  void random_constraint(Frame& frame);
  void inside(Frame& frame, const Wish& wish, int levels);
  View& allocate(Frame& frame);
  View& allocate(Frame& frame, DataType type, const std::vector<int64_t>& sizes);
  void write_all(Frame& frame, std::string view, int levels);
  void special(Frame& frame);
  void mark(Frame& frame, bool independent, bool leaf);

  // --- legal_shapes.cc: several statements that belong together
  // A type of floats, or of integers.
  DataType type_like(DataType other);
  // What a temporary is made of is copied to the view: that gives all its elements a value.
  void write_by_copy(Frame& frame, const std::string& view, int levels);
  // A temporary, something else that writes to a view or reads it, and then what writes to the view
  // and reads the temporary.
  void use_later(Frame& frame, std::string target, int levels);
  // A block whose points hand values on through a temporary: each goes on from what the one before
  // left.
  void running(Frame& frame, int levels);
  // One of its leaves: writes coordinate `to` of dimension `dim`, from what is at `from`; without
  // that, where the form over the frame's indices is 0.
  stripe::Block step(Frame& frame, const std::string& buffer, size_t dim,
                     std::optional<int64_t> from, int64_t to, const Affine& form);
  // Indices that walk through the whole view, if they are few enough: their coordinates there.
  std::optional<std::vector<Affine>> walk(Frame& frame, const View& around);

  // --- legal_lanes.cc
  // A work group: a located block with lane blocks.
  void group(Frame& frame);
  // Lane blocks that make buffers and write to the target with them, and their barriers; `again`:
  // others follow.
  void lanes(Frame& frame, std::string target, bool again);
  // A lane block that writes `to`, from the same elements of `from` if given.
  stripe::Block own_elements(Frame& frame, const std::string& from, const std::string& to);

  // --- legal_scalars.cc
  // Loads, arithmetic and stores with the views of one element; in a leaf also with larger ones, of
  // which scalars choose the element.
  void scalars(Frame& frame, bool leaf);
  std::string new_scalar(Frame& frame);
  using Scalars = std::vector<std::pair<std::string, DataType>>;
  void intrinsic(Frame& frame, Scalars& known);
  std::string compute(Frame& frame, Scalars& known, const std::string& name, DataType type,
                      std::vector<std::string> inputs);
  // Of two that are known, something that depends on both.
  void combine(Frame& frame, Scalars& known, const std::string& a, const std::string& b);
  // One that the block has computed already, or with its operands the other way round.
  bool again(Frame& frame, Scalars& known);
  // What depends on the order of its operands, in both orders.
  void both_ways(Frame& frame, Scalars& known, const std::string& a, const std::string& b,
                 DataType type);
  // With a constant operand: what can be computed or left out.
  void with_constant(Frame& frame, Scalars& known);
  void load(Frame& frame, Scalars& known, const View& view);
  // A buffer of one element, for one point: stored and loaded, several times.
  void small_buffer(Frame& frame, Scalars& known);
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
