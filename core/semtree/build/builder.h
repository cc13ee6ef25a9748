// SPDX-License-Identifier: Apache-2.0
// The state of building one kernel; private to this folder. build.cc does blocks and loops, leaf.cc
// the statements inside them, place.cc where an element lies, micro_kernel.cc calls of functions,
// group.cc what the lanes of a group do together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/semtree/build/build.h"
#include "stria/semtree/build/lane_units.h"
#include "stria/semtree/build/loop_nest.h"
#include "stria/semtree/build/shared_arrays.h"

namespace stria::semtree {

// A refinement at the current point: where its element (0, …, 0) lies.
struct View {
  int memory = -1;
  Affine offset;      // elements, over loop variables and kLane
  int64_t scale = 1;  // > 1: one copy of the allocation per lane, lanes innermost
  // Where the allocation or tensor begins, as an element of the array or parameter: 0 or more in an
  // array, 0 or less in a parameter, which may begin inside of its tensor.
  int64_t first = 0;
  std::optional<stripe::Aggregation> agg;
  // The allocation that it is a view of (for a tensor of the program: main's view), and its
  // coordinates in it.
  const stripe::Refinement* whole = nullptr;
  std::vector<Affine> coordinates;
  // What a load outside of `whole` gives (S10).
  enum class Beyond { nothing, clamp, zero_fill } beyond = Beyond::nothing;
};

struct Value {
  ExprRef expr;  // fp32 if `type` is fp16 or bf16
  DataType type = DataType::fp32;
};

// One block at one point.
struct Frame {
  const stripe::Block* block = nullptr;
  std::map<std::string, Affine> indices;  // over loop variables and kLane
  std::map<std::string, View> views;
  std::map<std::string, Value> scalars;
  int lanes = 1;
  ExprRef mask;      // of the lanes; null = all
  size_t units = 0;  // how many leading lane units have a known number: inside a lane block, all
  bool repeats = false;      // inside a loop of the group
  bool in_subgroup = false;  // inside a block for whole subgroups
};

class Builder {
 public:
  Builder(const stripe::Block& kernel, const stripe::Block& main, const BuildOptions& options)
      : kernel_(kernel), main_(main), options_(options), nest_(function_) {}
  Result<Function> run();
  bool fits_32_bits() const { return nest_.fits_32_bits(); }

 private:
  // --- build.cc: blocks
  Status make_parameters(Frame& outside);
  // Binds the kernel's parallel indices. The code that decodes them goes to `out`.
  Status spread_points(Frame& frame, Body& out);
  // Binds the indices, fastest first, whose points `number` counts.
  void unpack(const std::vector<const stripe::Index*>& packed, int number, Frame& frame, Body& out);
  // Emits all points of `block` inside `parent`'s point.
  Status nested_block(const stripe::Block& block, const Frame& parent, Body& out);
  // Emits the points of frame.block over the indices that the frame does not have yet, under the
  // constraints `pending` that are not decided yet.
  Status points(const Frame& frame, const Frame& parent, std::vector<Affine> pending, Body& out);
  Status loop(const stripe::Index& index, Frame frame, const Frame& parent,
              const std::vector<Affine>& pending, Body& out);
  Status lanes(const stripe::Index& index, Frame frame, const Frame& parent,
               std::vector<Affine> pending, Body& out);
  bool lanes_keep_apart(const stripe::Block& block, const stripe::Index& lane,
                        const Frame& parent) const;
  Status one_point(Frame frame, const Frame& parent, Body& out);
  // The frame's views of what the parent has. Allocations: see allocate.
  Status view_parent(Frame& frame, const Frame& parent) const;
  // Fails if the function grows beyond its limit.
  Status count_statement(const stripe::Block& block);
  // Memory for an allocation of frame.block, in so many copies. Inside lane blocks each lane has
  // its own; outside of them the group shares it.
  Result<View> allocate(const stripe::Refinement& ref, const Frame& frame, int64_t copies);
  // Takes out of `pending` what the frame's indices decide. False: a constraint never holds.
  // Constraints that may fail go to `open`, over loop variables and kLane.
  bool decide(const Frame& frame, std::vector<Affine>& pending, std::vector<Affine>& open) const;
  // Runs `inner` under the conditions.
  Status guarded(const std::vector<Affine>& conditions, Body& out,
                 const std::function<Status(Body&)>& inner);

  // --- group.cc: lanes of a group (S11 to S14)
  bool in_group() const { return !units_.empty(); }
  // A group of one lane has nobody to share with or to wait for; the device may run several such
  // groups as one.
  bool has_lanes() const { return in_group() && units_[0].count * units_[0].inside > 1; }
  // Does `frame` run once for several lanes? Only loops, lane blocks and barriers may.
  bool above_lanes(const Frame& frame) const { return frame.units < units_.size(); }
  // Binds the indices that the block's location names to the lane that runs. Lanes without a point
  // fail `conditions`.
  Status bind_lanes(Frame& frame, const Frame& parent, std::vector<Affine>& conditions);
  // The same for one unit of the location, of which there are `count`; `unit` is its position among
  // the kernel's units, beyond them for subgroups.
  Status bind_unit(const stripe::LocationUnit& place, size_t unit, int64_t count,
                   const std::string& number, Frame& frame, const Frame& parent,
                   std::vector<Affine>& conditions);
  // The name of the variable that holds the number of the lane's unit.
  const std::string& unit_number(size_t unit);
  const std::string& subgroup_number();
  Subgroups subgroups() const { return {options_.subgroup_unit, options_.subgroup_lanes}; }
  // Do lanes of a group have different bounds of the loop over that index, and nothing else makes
  // the bounds vary? Constant bounds, with tests of each point, can be unrolled then.
  bool bounds_differ_by_lane(const std::vector<Affine>& constraints,
                             const std::string& index) const;
  bool is_pipelined(const stripe::Block& block, const Frame& frame) const;
  // The points of a #pipeline=N block. What stands before its first barrier runs N-1 points ahead,
  // into copies of the block's allocations.
  Status pipelined(const Frame& frame, const Frame& parent, const std::vector<Affine>& pending,
                   Body& out);
  bool goes_apart(const Body& fetch, const Body& rest) const;
  Status instruction(const Frame& frame, const std::string& name, Body& out);
  Status barrier(const Frame& frame, const stripe::Special& special, Body& out);

  // --- micro_kernel.cc: a block that a function of the plugin does (S21)
  Status micro_kernel(const Frame& frame, const std::string& symbol, Body& out);

  // --- matrix.cc: what a subgroup does with matrices that its lanes hold (S15)
  struct MatrixBlock;
  bool is_matrix_operation(const Frame& frame) const;
  Status matrix_operation(const Frame& frame, Body& out);
  Status matrix_product(const Frame& frame, Body& out);
  Status matrix_elements(const Frame& frame, const MatrixBlock& matrix, Body& out);
  Status bound_matrix(const Frame& frame, MatrixBlock& matrix);
  // The matrix that the frame's view has.
  Result<FragmentRef> fragment(const Frame& frame, const std::string& name) const;
  FragmentRef new_fragment(const std::string& name, DataType type, const MatrixBlock& matrix);
  // Says of an array of matrices how large they are, and if it is decided, what they are in a
  // product.
  Status give_form(int memory, const Array::Fragment& form, bool decides_use);
  Result<MatrixPlace> matrix_place(const Frame& frame, const std::string& name,
                                   const MatrixBlock& matrix, Body& out);

  // --- place.cc: where elements lie
  Result<Place> place(const View& view, const Frame& frame, Body& out);
  // Do the elements of so many lanes lie in the allocation, whatever the conditions around say?
  bool exists(const View& view, int lanes) const;
  // For a load that may lie beyond the allocation: moves the place into it. For #zero_fill it
  // returns the condition under which the place was inside; null: always, or the place has a mask
  // for that.
  Result<ExprRef> move_inside(const View& view, const Frame& frame, Place& p, Body& out);

  // --- leaf.cc: statements of one point
  Status statements(Frame& frame, Body& out);
  Status statement(Frame& frame, const stripe::Statement& statement, Body& out);
  bool runs_in_memory(const Place& p, const Frame& frame) const;
  // Prefetches what the view has, run by run; for tensors only.
  Status prefetch(const stripe::Refinement& ref, const Frame& frame, Body& out);
  Status load(Frame& frame, const stripe::Load& load, Body& out);
  Status store(Frame& frame, const stripe::Store& store, Body& out);
  Status load_index(Frame& frame, const stripe::LoadIndex& load, Body& out);
  Status intrinsic_call(Frame& frame, const stripe::Intrinsic& call, Body& out);
  // `zero` and `copy` of whole refinements, as the block of loops that they mean.
  Status special(Frame& frame, const stripe::Special& special, Body& out);
  void store_element(Frame& frame, const View& view, const Place& p, const ExprRef& value,
                     Body& out);
  void store_combined(Frame& frame, const View& view, const Place& p, const ExprRef& value,
                      Body& out);
  // A coordinate that a scalar chooses, as an element number of its dimension.
  struct Choice {
    ExprRef value;  // of any integer type
    int64_t size = 0;
    int64_t stride = 0;  // elements of memory
  };
  Result<std::vector<Choice>> choices(const Frame& frame, const View& view, const std::string& ref,
                                      const stripe::ChosenCoordinates& at) const;
  // Moves the place by the chosen elements, each of them within its dimension.
  void move_place(Place& p, const std::vector<Choice>& choices, const Frame& frame, Body& out);
  ExprRef load_place(const Place& place, std::string_view hint, Body& out);
  ExprRef named(ExprRef expr, std::string_view hint, Body& out);
  Result<const View*> view_of(const Frame& frame, const std::string& name) const;
  Result<Value> scalar_of(const Frame& frame, const std::string& name) const;

  const stripe::Block& kernel_;
  const stripe::Block& main_;
  const BuildOptions& options_;
  Function function_;
  LoopNest nest_;
  std::vector<bool> wants_registers_;  // per array: it may be in registers
  std::vector<bool> has_slots_;        // per array: lanes hold it in slots (S12), so it must be
  std::vector<LaneUnit> units_;        // of the kernel's group, outermost first; empty: none
  std::vector<std::string> unit_numbers_;
  std::string subgroup_number_;
  std::map<int, bool> fragment_uses_;  // of arrays of matrices: is their use decided?
  std::map<const stripe::Refinement*, SharedPart> shared_parts_;
  std::map<int, int> shared_memories_;  // by the number of the array
  std::map<std::pair<size_t, std::pair<int64_t, int64_t>>, std::string>
      lane_indices_;  // unit, coefficient, range
  std::map<int, ExprRef>
      products_;  // variables that are a product of floats, for fused multiply-add
  std::map<int, ExprRef>
      stored_as_;  // variables that are a loaded fp16 or bf16 widened: what was loaded
  int64_t statement_count_ = 0;
};

// Fails if the running value of an aggregation would be kept in a storage type narrower than the
// aggregation type while several points add to one element (aggregation_check.cc).
Status check_aggregations(const stripe::Block& kernel);

std::string name_of_block(const stripe::Block& block);

}  // namespace stria::semtree
