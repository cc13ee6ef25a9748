// SPDX-License-Identifier: Apache-2.0
// Runs a Plan. There is one frame per block of the plan, made once per run. It holds the values of
// the block's affine forms at the current point, its views and its scalars. Points run in
// lexicographic order. A row is the points along the innermost index; the constraints clip its
// range once. If flat_plan.h allows it, leaf blocks run row by row over columns of values. Every
// result is the same as point by point.
//
// kBounds: values carry an fp64 value and an error bound.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/interpret.h"
#include "stria/interp/memory.h"
#include "stria/interp/plan.h"
#include "stria/interp/value.h"

namespace stria::interp {

struct View {
  Buffer* buffer = nullptr;
  int64_t offset = 0;
  Aggregating* aggregating = nullptr;
};

// Clips first..last along `step` to the points that meet all constraints; false if there is none.
// `forms` are the values at point 0 of the row; `step` is null without an index.
bool clip_row(const BlockPlan& plan, const int64_t* forms, const int64_t* step, int64_t& first,
              int64_t& last);
// Moves the indices order[0..count) to their next values, the last one fastest. False past the end;
// then all stand at their starts again.
bool next_row(const BlockPlan& plan, const int* order, size_t count, const int64_t* start,
              int64_t* position, int64_t* forms);

struct FlatRun;

template <bool kBounds>
class Engine {
 public:
  using Value = std::conditional_t<kBounds, BoundedValue, TypedValue>;

  // Borrows the plan for its lifetime.
  Engine(const Plan& plan, const InterpOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Gives refinement `slot` of the root block its memory. All other slots get memory of their own.
  void bind(size_t slot, Buffer buffer);
  const Buffer& buffer_of(size_t slot) const;
  Status run();
  const Events& events() const { return events_; }

 private:
  struct Frame {
    const BlockPlan* plan = nullptr;
    Frame* outer = nullptr;
    std::vector<int64_t> start, position;  // of each index: first value, current value
    std::vector<int64_t> forms;            // values at the current point
    std::vector<View> views;
    std::vector<int64_t> bases;  // offsets of the parents' views
    std::vector<Value> scalars;
  };

  void make_frame(const BlockPlan& plan);
  bool run_block(const BlockPlan& plan, Frame* outer);
  bool run_concurrent(const BlockPlan& plan, Frame& outer);
  bool run_points(Frame& frame);
  bool run_row(Frame& frame, size_t index, int64_t first, int64_t last);
  bool run_point(Frame& frame);
  bool run_flat(Frame& frame, FlatRun& run);

  bool load(Frame& frame, const StmtPlan& stmt);
  bool store(Frame& frame, const StmtPlan& stmt);
  bool store_chosen(Frame& frame, const StmtPlan& stmt, const Value& value);
  void blur(Frame& frame, const StmtPlan& stmt);
  bool aggregate(Frame& frame, const StmtPlan& stmt, int64_t offset, const Value& value);
  bool whole_view(Frame& frame, const StmtPlan& stmt);
  Value element(const View& view, DataType type, int64_t offset) const;
  bool put(Frame& frame, int ref, int64_t offset, const Value& value);
  void close(Aggregating& aggregating);

  bool in_coordinates(const Frame& frame, const RefPlan& ref, const Buffer& buffer) const;
  std::vector<int64_t> coordinates(const Frame& frame, int ref) const;
  std::string element_text(const Frame& frame, int ref, int64_t offset) const;
  bool fail(const Frame& frame, int ref, int64_t offset, std::string_view what);

  const Plan& plan_;
  InterpOptions options_;
  std::vector<Frame> frames_;                        // by BlockPlan::id
  std::vector<Buffer> allocations_;                  // by RefPlan::allocation
  std::vector<Aggregating> aggregations_;            // by RefPlan::aggregation
  std::vector<std::unique_ptr<FlatRun>> flat_runs_;  // by BlockPlan::id
  Events events_;
  Status status_;
};

extern template class Engine<false>;
extern template class Engine<true>;

}  // namespace stria::interp
