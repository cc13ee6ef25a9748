// SPDX-License-Identifier: Apache-2.0
// What each statement does at one point.
#include <cmath>
#include <limits>

#include "stria/interp/bounded.h"
#include "stria/interp/engine.h"
#include "stria/stripe/aggregation.h"

namespace stria::interp {

template <bool kBounds>
auto Engine<kBounds>::element(const View& view, DataType type, int64_t offset) const -> Value {
  const Buffer& buffer = *view.buffer;
  Value value;
  value.poison = !buffer.is_valid(offset);
  const Aggregating* running = view.aggregating;
  const bool inside = running && !running->is_direct() && running->has_started(offset);
  Scalar wide;
  if (inside && running->widened) {
    wide = load_scalar(running->agg.type, running->running.data(), offset - buffer.lowest);
    value.typed = convert(wide, type);
  } else {
    value.typed = load_scalar(type, buffer.data, offset);
  }
  if constexpr (kBounds) {
    value.x = buffer.bounded[offset - buffer.lowest];
    // Also where another view sees the element grow.
    if (const Aggregating* growing = running ? running : buffer.growing;
        growing && growing->has_started(offset)) {
      if (growing->is_float_sum() && (running || !growing->widened))
        value.x = total(growing->sums[static_cast<size_t>(offset - buffer.lowest)],
                        growing->agg.type, options_.flushed);
      else if (!running && growing->widened)
        value.x = {value.typed.to_double(), 0, true};  // only what has been rounded is in memory
    }
    // Who loads a running value rounds it.
    if (inside && running->widened)
      value.x = convert_bounded(wide, value.x, type, value.typed, options_.flushed);
  }
  return value;
}

template <bool kBounds>
bool Engine<kBounds>::load(Frame& frame, const StmtPlan& stmt) {
  const View& view = frame.views[static_cast<size_t>(stmt.ref)];
  const RefPlan& ref = frame.plan->refs[static_cast<size_t>(stmt.ref)];
  if (ref.out_of_range != OutOfRange::error) {
    if (!in_coordinates(frame, ref, *view.buffer)) {
      Value& value = frame.scalars[static_cast<size_t>(stmt.into)];
      value = {};
      value.typed = convert(Scalar::of_int(DataType::i32, 0), stmt.type);
      value.poison = ref.out_of_range == OutOfRange::poison;
      ++events_.clamped_reads;
      return true;
    }
  }
  const int64_t offset = view.offset + clamped_offset(stmt, frame.scalars.data(), events_);
  if (!view.buffer->holds(offset))
    return fail(frame, stmt.ref, offset, "load outside the allocation");
  Value value = element(view, stmt.type, offset);
  for (const Choice& choice : stmt.chosen)
    depend(value, frame.scalars[static_cast<size_t>(choice.scalar)]);
  frame.scalars[static_cast<size_t>(stmt.into)] = value;
  return true;
}

template <bool kBounds>
bool Engine<kBounds>::store(Frame& frame, const StmtPlan& stmt) {
  const View& view = frame.views[static_cast<size_t>(stmt.ref)];
  const Value value = converted(frame.scalars[static_cast<size_t>(stmt.from[0])],
                                stmt.operand_types[0], options_.flushed, events_);
  if (!stmt.chosen.empty()) return store_chosen(frame, stmt, value);
  if (!view.buffer->holds(view.offset))
    return fail(frame, stmt.ref, view.offset, "store outside the allocation");
  if (view.aggregating) return aggregate(frame, stmt, view.offset, value);
  return put(frame, stmt.ref, view.offset, value);
}

// A store whose coordinates scalars choose.
template <bool kBounds>
bool Engine<kBounds>::store_chosen(Frame& frame, const StmtPlan& stmt, const Value& value) {
  const View& view = frame.views[static_cast<size_t>(stmt.ref)];
  int64_t offset = view.offset;
  bool inside = true;
  [[maybe_unused]] bool undecided = false;
  for (const Choice& choice : stmt.chosen) {
    const Value& at = frame.scalars[static_cast<size_t>(choice.scalar)];
    if (at.poison)
      return fail(frame, stmt.ref, view.offset,
                  "a value that was never written chooses the element");
    if constexpr (kBounds) undecided |= at.x.undecided;
    inside = inside && side_of(at.typed, choice.size) == 0;
    if (inside) offset += choice.stride * at.typed.i;
  }
  if (!inside) ++events_.dropped_writes;
  if (inside && !view.buffer->holds(offset))
    return fail(frame, stmt.ref, offset, "store outside the allocation");
  if (inside) {
    if (!(view.aggregating ? aggregate(frame, stmt, offset, value)
                           : put(frame, stmt.ref, offset, value)))
      return false;
  }
  if constexpr (kBounds)
    if (undecided) blur(frame, stmt);
  return true;
}

// Another device may have stored to any element of the view.
template <bool kBounds>
void Engine<kBounds>::blur(Frame& frame, const StmtPlan& stmt) {
  const View& view = frame.views[static_cast<size_t>(stmt.ref)];
  std::vector<int64_t> at(stmt.chosen.size(), 0);
  for (;;) {
    int64_t offset = view.offset;
    for (size_t i = 0; i < at.size(); ++i) offset += at[i] * stmt.chosen[i].stride;
    if (view.buffer->holds(offset)) {
      const int64_t element = offset - view.buffer->lowest;
      view.buffer->bounded[element].undecided = true;
      // A sum that has not started takes it from there.
      if (view.aggregating && !view.aggregating->sums.empty())
        view.aggregating->sums[static_cast<size_t>(element)].undecided = true;
    }
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] >= stmt.chosen[i - 1].size) at[--i] = 0;
    if (i == 0) return;
  }
}

template <bool kBounds>
bool Engine<kBounds>::put(Frame& frame, int ref, int64_t offset, const Value& value) {
  Buffer& buffer = *frame.views[static_cast<size_t>(ref)].buffer;
  if (value.poison && buffer.of_caller)
    return fail(frame, ref, offset,
                "a value that was never written reaches a tensor of the caller");
  store_scalar(buffer.type, buffer.data, offset, value.typed);
  buffer.set_valid(offset, !value.poison);
  if constexpr (kBounds) {
    buffer.bounded[offset - buffer.lowest] = value.x;
    // The terms that an aggregation beside has counted are gone.
    if (buffer.growing && buffer.growing->has_started(offset))
      buffer.growing->sums[static_cast<size_t>(offset - buffer.lowest)].undecided = true;
  }
  return true;
}

template <bool kBounds>
bool Engine<kBounds>::aggregate(Frame& frame, const StmtPlan& stmt, int64_t offset,
                                const Value& value) {
  const View& view = frame.views[static_cast<size_t>(stmt.ref)];
  Aggregating& running = *view.aggregating;
  Buffer& buffer = *view.buffer;
  const int64_t at = offset - buffer.lowest;
  const bool is_sum = kBounds && running.is_float_sum();
  Value current;
  if ((running.is_direct() && !kBounds) || running.has_started(offset)) {
    if (running.widened)
      current.typed = load_scalar(running.agg.type, running.running.data(), at);
    else
      current.typed = load_scalar(buffer.type, buffer.data, offset);
    current.poison = !buffer.is_valid(offset);
    if constexpr (kBounds) current.x = buffer.bounded[at];
  } else {
    running.start(offset);
    if (running.widened || is_sum) running.touched.push_back(offset);
    if (running.from_identity) {
      current.typed = identity_of(running.agg);
      if constexpr (kBounds) current.x = {current.typed.to_double(), 0, false};
    } else {
      const Scalar stored = load_scalar(buffer.type, buffer.data, offset);
      current.typed = convert(stored, running.agg.type);
      current.poison = !buffer.is_valid(offset);
      if constexpr (kBounds)
        current.x = convert_bounded(stored, buffer.bounded[at], running.agg.type, current.typed,
                                    options_.flushed);
    }
    if constexpr (kBounds) {
      if (is_sum) {
        running.sums[static_cast<size_t>(at)] = {};
        if (!running.from_identity) add_term(running.sums[static_cast<size_t>(at)], current.x);
      }
    }
  }
  const Scalar pair[] = {current.typed, value.typed};
  Value result;
  result.typed = stmt.builtin->reference(running.agg.type, pair);
  result.poison = current.poison || value.poison;
  if constexpr (kBounds) {
    if (is_sum) {
      add_term(running.sums[static_cast<size_t>(at)], value.x);
    } else {
      const Bounded both[] = {current.x, value.x};
      result.x =
          call_bounded(*stmt.builtin, running.agg.type, pair, both, result.typed, options_.flushed);
    }
  }
  if (result.poison && buffer.of_caller)
    return fail(frame, stmt.ref, offset,
                "a value that was never written reaches a tensor of the caller");
  if (running.widened)
    store_scalar(running.agg.type, running.running.data(), at, result.typed);
  else
    store_scalar(buffer.type, buffer.data, offset, result.typed);
  buffer.set_valid(offset, !result.poison);
  if constexpr (kBounds) buffer.bounded[at] = result.x;
  return true;
}

template <bool kBounds>
void Engine<kBounds>::close(Aggregating& running) {
  Buffer& buffer = *running.buffer;
  running.close();
  for (int64_t offset : running.touched) {
    const int64_t at = offset - buffer.lowest;
    [[maybe_unused]] Scalar last;
    if (running.widened) {
      last = load_scalar(running.agg.type, running.running.data(), at);
      store_scalar(buffer.type, buffer.data, offset, last);
    }
    if constexpr (kBounds) {
      Bounded& x = buffer.bounded[at];
      if (running.agg.op == stripe::AggOp::add && is_float(running.agg.type))
        x = total(running.sums[static_cast<size_t>(at)], running.agg.type, options_.flushed);
      if (running.widened)
        x = convert_bounded(last, x, buffer.type, load_scalar(buffer.type, buffer.data, offset),
                            options_.flushed);
    }
  }
}

// special zero and copy: every element of the view at this point.
template <bool kBounds>
bool Engine<kBounds>::whole_view(Frame& frame, const StmtPlan& stmt) {
  const View& out = frame.views[static_cast<size_t>(stmt.ref)];
  const std::vector<Dim>& dims = frame.plan->refs[static_cast<size_t>(stmt.ref)].shape.dims;
  const bool copies = stmt.op == Op::copy;
  const View& in = frame.views[static_cast<size_t>(copies ? stmt.source : stmt.ref)];
  const RefPlan& in_ref = frame.plan->refs[static_cast<size_t>(copies ? stmt.source : stmt.ref)];
  for (const Dim& dim : dims)
    if (dim.size == 0) return true;
  std::vector<int64_t> at(dims.size(), 0);
  for (;;) {
    int64_t to = out.offset, from = in.offset;
    for (size_t d = 0; d < dims.size(); ++d) {
      to += at[d] * dims[d].stride;
      from += at[d] * in_ref.shape.dims[d].stride;
    }
    Value value;
    if (copies) {
      if (!in.buffer->holds(from))
        return fail(frame, stmt.source, from, "copy from outside the allocation");
      value = element(in, in_ref.shape.type, from);
      const Scalar read = value.typed;
      value.typed = convert(read, stmt.type);
      if constexpr (kBounds)
        value.x = convert_bounded(read, value.x, stmt.type, value.typed, options_.flushed);
    } else {
      value.typed = convert(Scalar::of_int(DataType::i32, 0), stmt.type);
    }
    if (!out.buffer->holds(to)) return fail(frame, stmt.ref, to, "store outside the allocation");
    if (!put(frame, stmt.ref, to, value)) return false;
    size_t d = dims.size();
    while (d > 0 && ++at[d - 1] == dims[d - 1].size) at[--d] = 0;
    if (d == 0) return true;
  }
}

// Coordinates of the view's element in its allocation, or nothing where a view changes the rank.
template <bool kBounds>
std::vector<int64_t> Engine<kBounds>::coordinates(const Frame& frame, int slot) const {
  std::vector<int64_t> sum(frame.plan->refs[static_cast<size_t>(slot)].coordinates.size(), 0);
  for (const Frame* at = &frame; at; at = at->outer) {
    const RefPlan& ref = at->plan->refs[static_cast<size_t>(slot)];
    if (ref.coordinates.size() != sum.size()) return {};
    for (size_t d = 0; d < sum.size(); ++d) {
      sum[d] += ref.coordinates[d].constant;
      for (size_t i = 0; i < at->position.size(); ++i)
        sum[d] += ref.coordinates[d].coefficients[i] * at->position[i];
    }
    slot = ref.parent;
    if (slot < 0) break;
  }
  return sum;
}

template <bool kBounds>
bool Engine<kBounds>::in_coordinates(const Frame& frame, const RefPlan& ref,
                                     const Buffer& buffer) const {
  const auto at = coordinates(frame, static_cast<int>(&ref - frame.plan->refs.data()));
  const std::vector<Dim>& dims = buffer.shape->dims;
  if (at.size() != dims.size())
    return buffer.holds(frame.views[static_cast<size_t>(&ref - frame.plan->refs.data())].offset);
  for (size_t d = 0; d < dims.size(); ++d)
    if (at[d] < 0 || at[d] >= dims[d].size) return false;
  return true;
}

template <bool kBounds>
std::string Engine<kBounds>::element_text(const Frame& frame, int slot, int64_t offset) const {
  const RefPlan& ref = frame.plan->refs[static_cast<size_t>(slot)];
  const View& view = frame.views[static_cast<size_t>(slot)];
  const auto at = coordinates(frame, slot);
  if (offset == view.offset && at.size() == ref.shape.dims.size())
    return fmt::format("{}[{}]", ref.name, fmt::join(at, ", "));
  return fmt::format("{} at offset {}", ref.name, offset);
}

template <bool kBounds>
bool Engine<kBounds>::fail(const Frame& frame, int slot, int64_t offset, std::string_view what) {
  const Buffer& buffer = *frame.views[static_cast<size_t>(slot)].buffer;
  std::string point;
  for (size_t i = 0; i < frame.position.size(); ++i)
    point += fmt::format("{}{}={}", i ? ", " : " at ", frame.plan->idxs[i].name, frame.position[i]);
  status_ = invalid_argument("block {}: {}: {} of an allocation {}{}", frame.plan->name, what,
                             element_text(frame, slot, offset),
                             to_string(buffer.type, buffer.shape->sizes()), point);
  return false;
}

template class Engine<false>;
template class Engine<true>;

}  // namespace stria::interp
