// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "stria/interp/bounded.h"
#include "stria/interp/flat_run.h"
#include "stria/interp/machine.h"

namespace stria::interp {

template <bool kBounds>
Engine<kBounds>::Engine(const Plan& plan, const InterpOptions& options)
    : plan_(plan),
      options_(options),
      frames_(static_cast<size_t>(plan.block_count)),
      allocations_(static_cast<size_t>(plan.allocation_count)),
      aggregations_(static_cast<size_t>(plan.aggregation_count)),
      flat_runs_(static_cast<size_t>(plan.block_count)) {
  make_frame(*plan.root);
}

template <bool kBounds>
Engine<kBounds>::~Engine() = default;

template <bool kBounds>
void Engine<kBounds>::make_frame(const BlockPlan& plan) {
  Frame& frame = frames_[static_cast<size_t>(plan.id)];
  frame.plan = &plan;
  frame.start.resize(plan.idxs.size());
  frame.position.resize(plan.idxs.size());
  frame.forms.resize(plan.form_count());
  frame.views.resize(plan.refs.size());
  frame.bases.resize(plan.refs.size());
  frame.scalars.resize(plan.scalars.size());
  for (const auto& child : plan.children) make_frame(*child);
}

template <bool kBounds>
void Engine<kBounds>::bind(size_t slot, Buffer buffer) {
  allocations_[static_cast<size_t>(plan_.root->refs[slot].allocation)] = std::move(buffer);
}

template <bool kBounds>
const Buffer& Engine<kBounds>::buffer_of(size_t slot) const {
  return allocations_[static_cast<size_t>(plan_.root->refs[slot].allocation)];
}

template <bool kBounds>
Status Engine<kBounds>::run() {
  status_ = {};
  for (Buffer& buffer : allocations_) buffer.growing = nullptr;  // a run may have ended within one
  try {
    run_block(*plan_.root, nullptr);
  } catch (const std::bad_alloc&) {
    status_ = make_error(StatusCode::out_of_memory, "block {}: no memory for its tensors",
                         plan_.root->name);
  }
  if (options_.events) *options_.events += events_;
  return status_;
}

template <bool kBounds>
bool Engine<kBounds>::run_block(const BlockPlan& plan, Frame* outer) {
  Frame& frame = frames_[static_cast<size_t>(plan.id)];
  frame.outer = outer;
  bool empty = false;
  for (size_t i = 0; i < plan.idxs.size(); ++i) {
    const int form = plan.idxs[i].start_form;
    frame.start[i] = form < 0 ? 0 : outer->forms[static_cast<size_t>(form)];
    empty |= plan.idxs[i].range == 0;
  }
  if (empty) return true;
  for (size_t r = 0; r < plan.refs.size(); ++r) {
    const RefPlan& ref = plan.refs[r];
    if (ref.parent < 0) continue;
    const View& from = outer->views[static_cast<size_t>(ref.parent)];
    frame.views[r] = from;
    frame.bases[r] = from.offset;
    if (!ref.opens_aggregation) continue;
    Aggregating& aggregating = aggregations_[static_cast<size_t>(ref.aggregation)];
    aggregating.open(*from.buffer, *ref.agg, ref.dir == stripe::RefDir::out, kBounds);
    frame.views[r].aggregating = &aggregating;
  }
  std::copy(plan.constants.begin(), plan.constants.end(), frame.forms.begin());
  for (size_t i = 0; i < plan.idxs.size(); ++i) {
    frame.position[i] = frame.start[i];
    if (frame.start[i] == 0) continue;
    const int64_t* step = plan.coefficients_of(i);
    for (size_t f = 0; f < frame.forms.size(); ++f) frame.forms[f] += step[f] * frame.start[i];
  }
  if (plan.flat && options_.flat_path) {
    auto& run = flat_runs_[static_cast<size_t>(plan.id)];
    if (!run) run = std::make_unique<FlatRun>(*plan.flat, kBounds);
    if (run->applies(plan, frame.views, frame.bases, frame.forms)) {
      if (!run_flat(frame, *run)) return false;
    } else if (!run_points(frame)) {
      return false;
    }
  } else if (!run_points(frame)) {
    return false;
  }
  for (int slot : plan.aggregations)
    close(aggregations_[static_cast<size_t>(plan.refs[static_cast<size_t>(slot)].aggregation)]);
  return true;
}

// The blocks around the kernel, as the machine knows them.
template <bool kBounds>
bool Engine<kBounds>::run_concurrent(const BlockPlan& plan, Frame& outer) {
  if constexpr (kBounds) {
    status_ = unsupported("block {}: no error bounds of a kernel with several agents", plan.name);
    return false;
  }
  std::map<const Buffer*, std::shared_ptr<SharedMemory>> memories;
  std::shared_ptr<const Activation> around;
  std::vector<const Frame*> frames;
  for (const Frame* frame = &outer; frame != nullptr; frame = frame->outer)
    frames.insert(frames.begin(), frame);
  for (const Frame* frame : frames) {
    auto one = std::make_shared<Activation>();
    one->plan = frame->plan;
    one->outer = std::move(around);
    one->position = frame->position;
    one->forms = frame->forms;
    one->begun = true;
    for (size_t r = 0; r < frame->views.size(); ++r) {
      const View& view = frame->views[r];
      std::shared_ptr<SharedMemory>& memory = memories[view.buffer];
      if (!memory) {
        memory = std::make_shared<SharedMemory>();
        memory->buffer = view.buffer;
        memory->name = frame->plan->refs[r].name;
        memory->arrivals = frame->plan->refs[r].arrivals;
      }
      // The engine's own aggregations outlive the kernel.
      one->views.push_back(
          {memory, view.offset,
           std::shared_ptr<Aggregating>(std::shared_ptr<void>(), view.aggregating)});
    }
    around = std::move(one);
  }
  const Interleaving plain;
  Machine machine(plan, around, options_,
                  options_.interleaving != nullptr ? *options_.interleaving : plain);
  status_ = machine.run();
  events_ += machine.events();
  events_.concurrent_steps += machine.steps();
  return status_.ok();
}

bool clip_row(const BlockPlan& plan, const int64_t* forms, const int64_t* step, int64_t& first,
              int64_t& last) {
  for (int c = 0; c < plan.constraint_count; ++c) {
    const int64_t at = forms[c], by = step ? step[c] : 0;
    if (by == 0) {
      if (at < 0) return false;
    } else if (by > 0) {
      first = std::max(first, ceil_div(-at, by));
    } else {
      last = std::min(last, floor_div(at, -by));
    }
  }
  return first <= last;
}

bool next_row(const BlockPlan& plan, const int* order, size_t count, const int64_t* start,
              int64_t* position, int64_t* forms) {
  const size_t form_count = plan.form_count();
  for (size_t k = count; k-- > 0;) {
    const auto i = static_cast<size_t>(order[k]);
    const int64_t range = plan.idxs[i].range;
    const int64_t* step = plan.coefficients_of(i);
    if (position[i] - start[i] + 1 < range) {
      ++position[i];
      for (size_t f = 0; f < form_count; ++f) forms[f] += step[f];
      return true;
    }
    position[i] = start[i];
    if (range > 1)
      for (size_t f = 0; f < form_count; ++f) forms[f] -= step[f] * (range - 1);
  }
  return false;
}

template <bool kBounds>
bool Engine<kBounds>::run_points(Frame& frame) {
  const BlockPlan& plan = *frame.plan;
  if (plan.idxs.empty()) {
    int64_t first = 0, last = 0;
    return !clip_row(plan, frame.forms.data(), nullptr, first, last) || run_point(frame);
  }
  const size_t inner = plan.idxs.size() - 1;
  std::vector<int> order(inner);
  for (size_t i = 0; i < inner; ++i) order[i] = static_cast<int>(i);
  do {
    int64_t first = 0, last = plan.idxs[inner].range - 1;
    if (!clip_row(plan, frame.forms.data(), plan.coefficients_of(inner), first, last)) continue;
    if (!run_row(frame, inner, first, last)) return false;
  } while (next_row(plan, order.data(), inner, frame.start.data(), frame.position.data(),
                    frame.forms.data()));
  return true;
}

// Points first..last (counted from the index's start) along `index`; forms stand at 0 and come
// back.
template <bool kBounds>
bool Engine<kBounds>::run_row(Frame& frame, size_t index, int64_t first, int64_t last) {
  const int64_t* step = frame.plan->coefficients_of(index);
  int64_t* forms = frame.forms.data();
  const size_t count = frame.forms.size();
  if (first != 0)
    for (size_t f = 0; f < count; ++f) forms[f] += step[f] * first;
  for (int64_t k = first; k <= last; ++k) {
    frame.position[index] = frame.start[index] + k;
    if (!run_point(frame)) return false;
    for (size_t f = 0; f < count; ++f) forms[f] += step[f];
  }
  for (size_t f = 0; f < count; ++f) forms[f] -= step[f] * (last + 1);
  frame.position[index] = frame.start[index];
  return true;
}

template <bool kBounds>
bool Engine<kBounds>::run_point(Frame& frame) {
  const BlockPlan& plan = *frame.plan;
  for (int slot : plan.allocations) {
    const RefPlan& ref = plan.refs[static_cast<size_t>(slot)];
    Buffer& buffer = allocations_[static_cast<size_t>(ref.allocation)];
    if (!buffer.data)
      buffer = Buffer::allocate(ref.shape, kBounds);
    else if (frame.outer)
      buffer.poison();
    frame.views[static_cast<size_t>(slot)].buffer = &buffer;
  }
  for (size_t r = 0; r < plan.refs.size(); ++r)
    frame.views[r].offset =
        frame.bases[r] + frame.forms[static_cast<size_t>(plan.refs[r].offset_form)];
  for (const StmtPlan& stmt : plan.stmts) {
    switch (stmt.op) {
      case Op::load:
        if (!load(frame, stmt)) return false;
        break;
      case Op::store:
        if (!store(frame, stmt)) return false;
        break;
      case Op::intrinsic:
        frame.scalars[static_cast<size_t>(stmt.into)] =
            call(stmt, frame.scalars.data(), options_.flushed, events_);
        break;
      case Op::load_index: {
        const Scalar index =
            Scalar::of_int(DataType::i64, frame.forms[static_cast<size_t>(stmt.form)]);
        frame.scalars[static_cast<size_t>(stmt.into)] = exactly<Value>(convert(index, stmt.type));
        break;
      }
      case Op::constant:
        frame.scalars[static_cast<size_t>(stmt.into)] = exactly<Value>(stmt.constant);
        break;
      case Op::block: {
        const BlockPlan& child = *plan.children[static_cast<size_t>(stmt.child)];
        // Each kernel of a section has agents of its own.
        if (!(child.concurrent && !child.is_section ? run_concurrent(child, frame)
                                                    : run_block(child, &frame)))
          return false;
        break;
      }
      case Op::zero:
      case Op::copy:
        if (!whole_view(frame, stmt)) return false;
        break;
      case Op::barrier: break;
      // Kernels that have them run by the machine of agents.
      case Op::wait:
      case Op::arrive:
        status_ = invalid_argument("block {}: what waits or arrives stands in a kernel", plan.name);
        return false;
    }
  }
  return true;
}

template class Engine<false>;
template class Engine<true>;

}  // namespace stria::interp
