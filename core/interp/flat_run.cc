// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/flat_run.h"

#include <algorithm>
#include <cmath>

#include "stria/interp/bounded.h"
#include "stria/stripe/aggregation.h"

namespace stria::interp {

FlatRun::FlatRun(const FlatPlan& flat_plan, bool with_bounds)
    : plan(flat_plan),
      columns(static_cast<size_t>(plan.columns)),
      kept(plan.loads.size()),
      ranges_(plan.loads.size() + plan.stores.size()),
      memory(static_cast<size_t>(plan.columns) * kRow) {
  if (with_bounds) {
    bounded.resize(columns.size());
    bounded_memory.resize(memory.size());
  }
}

bool FlatRun::applies(const BlockPlan& block, const std::vector<View>& views,
                      const std::vector<int64_t>& bases, const std::vector<int64_t>& forms) {
  const size_t loads = plan.loads.size();
  for (size_t a = 0; a < ranges_.size(); ++a) {
    const FlatPlan::Access& access = a < loads ? plan.loads[a] : plan.stores[a - loads];
    const auto ref = static_cast<size_t>(access.ref);
    if (a < loads && views[ref].aggregating && !views[ref].aggregating->is_direct()) return false;
    // Bounds of what grows beside are not in memory.
    const bool combines = a >= loads && access.combine;
    if (!bounded.empty() && !combines && views[ref].buffer->growing) return false;
    int64_t low = bases[ref] + forms[static_cast<size_t>(access.form)], high = low;
    for (size_t i = 0; i < block.idxs.size(); ++i) {
      const int64_t reach = block.coefficients_of(i)[access.form] * (block.idxs[i].range - 1);
      (reach < 0 ? low : high) += reach;
    }
    // What lies outside the buffer is never touched: such a row goes point by point and fails
    // there.
    const Buffer& buffer = *views[ref].buffer;
    if (buffer.count() == 0) return false;
    low = std::max(low, buffer.lowest);
    high = std::min(high, buffer.end - 1);
    const int64_t bytes = byte_size(access.type);
    ranges_[a] = {buffer.data + low * bytes, buffer.data + high * bytes + bytes - 1};
  }
  for (Kept& one : kept) one.offset = std::numeric_limits<int64_t>::min();
  for (size_t s = loads; s < ranges_.size(); ++s) {
    const FlatPlan::Access& store = plan.stores[s - loads];
    for (size_t a = 0; a < s; ++a) {
      if (ranges_[a].last < ranges_[s].first || ranges_[s].last < ranges_[a].first) continue;
      if (a >= loads) return false;
      const FlatPlan::Access& load = plan.loads[a];
      const auto from = static_cast<size_t>(load.ref), to = static_cast<size_t>(store.ref);
      bool same = load.in_front && store.injective && !store.combine &&
                  views[from].buffer == views[to].buffer && ranges_[a].first == ranges_[s].first;
      for (size_t i = 0; same && i < block.idxs.size(); ++i)
        same = block.idxs[i].range == 1 ||
               block.coefficients_of(i)[load.form] == block.coefficients_of(i)[store.form];
      if (!same) return false;
      // A loaded column may be the memory itself: a later store of it would store what this one
      // has.
      for (size_t later = s + 1; later < ranges_.size(); ++later)
        if (plan.stores[later - loads].value == load.value) return false;
    }
  }
  return true;
}

namespace {

// Both ends of a row lie in the buffer; all between them then do.
bool row_inside(const Buffer& buffer, int64_t offset, int64_t stride, int64_t n) {
  return buffer.holds(offset) && buffer.holds(offset + stride * (n - 1));
}

int64_t count_equal(const uint32_t* stamps, int64_t stride, int64_t n, uint32_t epoch) {
  int64_t equal = 0;
  if (stride == 0) return stamps[0] == epoch ? n : 0;
  if (stride == 1)
    for (int64_t k = 0; k < n; ++k) equal += stamps[k] == epoch;
  else
    for (int64_t k = 0; k < n; ++k) equal += stamps[k * stride] == epoch;
  return equal;
}

bool row_valid(const Buffer& buffer, int64_t offset, int64_t stride, int64_t n) {
  return !buffer.valid ||
         count_equal(buffer.valid.get() + (offset - buffer.lowest), stride, n, buffer.epoch) == n;
}

void set_row_valid(Buffer& buffer, int64_t offset, int64_t stride, int64_t n) {
  if (!buffer.valid) return;
  uint32_t* stamps = buffer.valid.get() + (offset - buffer.lowest);
  if (stride == 0) n = 1;
  for (int64_t k = 0; k < n; ++k) stamps[k * stride] = buffer.epoch;
}

// The loads of one row; false: out of range or poisoned, the row must go point by point.
bool load_row(FlatRun& run, const std::vector<View>& views, const std::vector<int64_t>& bases,
              const int64_t* forms, int64_t first, int64_t n) {
  for (size_t l = 0; l < run.plan.loads.size(); ++l) {
    const FlatPlan::Access& load = run.plan.loads[l];
    const Buffer& buffer = *views[static_cast<size_t>(load.ref)].buffer;
    const int64_t offset =
        bases[static_cast<size_t>(load.ref)] + forms[load.form] + load.stride * first;
    FlatRun::Kept& kept = run.kept[l];
    if (kept.offset == offset && kept.count >= n) continue;
    kept.offset = std::numeric_limits<int64_t>::min();
    if (!row_inside(buffer, offset, load.stride, n) || !row_valid(buffer, offset, load.stride, n))
      return false;
    const char* data = buffer.data + offset * byte_size(load.type);
    Column& column = run.columns[static_cast<size_t>(load.value)];
    column.stride = load.stride == 0 ? 0 : 1;
    if (is_native(load.type) && (load.stride == 0 || load.stride == 1)) {
      column.data = data;
    } else {
      gather(load.type, data, load.stride, load.stride == 0 ? 1 : n, run.own(load.value));
      column.data = run.own(load.value);
    }
    if (!run.bounded.empty()) {
      const Bounded* from = buffer.bounded.get() + (offset - buffer.lowest);
      if (load.stride > 1 || load.stride < 0) {
        Bounded* to = run.own_bounded(load.value);
        for (int64_t k = 0; k < n; ++k) to[k] = from[k * load.stride];
        from = to;
      }
      run.bounded[static_cast<size_t>(load.value)] = from;
    }
    kept = {offset, n};
  }
  return true;
}

bool stores_fit(const FlatRun& run, const std::vector<View>& views,
                const std::vector<int64_t>& bases, const int64_t* forms, int64_t first, int64_t n) {
  for (const FlatPlan::Access& store : run.plan.stores) {
    const View& view = views[static_cast<size_t>(store.ref)];
    const int64_t offset =
        bases[static_cast<size_t>(store.ref)] + forms[store.form] + store.stride * first;
    if (!row_inside(*view.buffer, offset, store.stride, n)) return false;
    if (!view.aggregating) continue;
    // An element that has started from the identity keeps its poison, if it has any.
    if (!view.aggregating->from_identity && !row_valid(*view.buffer, offset, store.stride, n))
      return false;
  }
  return true;
}

void bounded_step(FlatRun& run, const FlatPlan::Step& step, const Column& out, int64_t n,
                  FlushedTypes flushed) {
  Bounded* to = run.own_bounded(step.out);
  run.bounded[static_cast<size_t>(step.out)] = to;
  using Kind = FlatPlan::Step::Kind;
  const auto typed = [&](int64_t k) { return element_of(step.out_type, out, k); };
  if (step.kind == Kind::constant || step.kind == Kind::index) {
    for (int64_t k = 0; k < n; ++k) to[k] = {typed(k).to_double(), 0, false};
    return;
  }
  if (step.kind == Kind::call && step.operands == 2) {
    const auto bounds = [&](int i) { return run.bounded[static_cast<size_t>(step.from[i])]; };
    const auto stride = [&](int i) {
      return run.columns[static_cast<size_t>(step.from[i])].stride;
    };
    if (arithmetic_bounded(*step.builtin, step.type, bounds(0), stride(0), bounds(1), stride(1),
                           out.data, n, flushed, to))
      return;
  }
  Scalar in[3];
  Bounded x[3];
  for (int64_t k = 0; k < n; ++k) {
    for (int i = 0; i < step.operands; ++i) {
      const Column& column = run.columns[static_cast<size_t>(step.from[i])];
      in[i] = element_of(step.in_types[i], column, k);
      x[i] = run.bounded[static_cast<size_t>(step.from[i])][k * column.stride];
    }
    to[k] = step.kind == Kind::convert
                ? convert_bounded(in[0], x[0], step.type, typed(k), flushed)
                : call_bounded(*step.builtin, step.type, in, x, typed(k), flushed);
  }
}

void do_step(FlatRun& run, const FlatPlan::Step& step, const int64_t* forms, int64_t first,
             int64_t n, FlushedTypes flushed, Events& events) {
  using Kind = FlatPlan::Step::Kind;
  Column& out = run.columns[static_cast<size_t>(step.out)];
  void* own = run.own(step.out);
  out.data = own;
  out.stride = 0;
  int64_t points = 1;
  if (step.kind == Kind::constant) {
    set_element(step.out_type, own, 0, step.constant);
  } else if (step.kind == Kind::index) {
    out.stride = step.stride == 0 ? 0 : 1;
    points = out.stride ? n : 1;
    for (int64_t k = 0; k < points; ++k) {
      const int64_t value = forms[step.form] + step.stride * (first + k);
      set_element(step.type, own, k, convert(Scalar::of_int(DataType::i64, value), step.type));
    }
  } else {
    Column in[3];
    for (int i = 0; i < step.operands; ++i) {
      in[i] = run.columns[static_cast<size_t>(step.from[i])];
      out.stride |= in[i].stride;
    }
    points = out.stride ? n : 1;
    if (step.counts_zero_divisor)
      for (int64_t k = 0; k < n; ++k)
        events.division_by_zero += element_of(step.in_types[1], in[1], k).i == 0;
    if (step.call) {
      step.call(own, in, n);
    } else {
      Scalar operands[3];
      for (int64_t k = 0; k < points; ++k) {
        for (int i = 0; i < step.operands; ++i)
          operands[i] = element_of(step.in_types[i], in[i], k);
        if (step.kind == Kind::convert) {
          if (conversion_overflows(operands[0], step.type))
            events.conversion_overflow += out.stride ? 1 : n;
          set_element(step.type, own, k, convert(operands[0], step.type));
        } else {
          set_element(step.out_type, own, k, step.builtin->reference(step.type, operands));
        }
      }
    }
  }
  if (!run.bounded.empty()) bounded_step(run, step, out, points, flushed);
}

void combine_row(Aggregating& running, Buffer& buffer, const FlatPlan::Access& store,
                 int64_t offset, const Column& value, const Bounded* bounds, int64_t n,
                 FlushedTypes flushed) {
  const int64_t at = offset - buffer.lowest, stride = store.stride;
  const bool is_sum = bounds && running.agg.op == stripe::AggOp::add && is_float(running.agg.type);
  char* acc = running.widened ? running.running.data() + at * byte_size(running.agg.type)
                              : buffer.data + offset * byte_size(buffer.type);
  const int64_t elements = stride == 0 ? 1 : n;
  if (!running.is_direct() || bounds) {
    uint32_t* stamps = running.started.data() + at;
    if (count_equal(stamps, stride, elements, running.epoch) != elements) {
      const Scalar identity = identity_of(running.agg);
      for (int64_t k = 0; k < elements; ++k) {
        if (stamps[k * stride] == running.epoch) continue;
        stamps[k * stride] = running.epoch;
        const int64_t here = offset + k * stride;
        if (running.widened || is_sum) running.touched.push_back(here);
        Scalar start = identity;
        Bounded x{identity.to_double(), 0, false};
        if (!running.from_identity) {
          const Scalar stored = load_scalar(buffer.type, buffer.data, here);
          start = convert(stored, running.agg.type);
          if (bounds)
            x = convert_bounded(stored, buffer.bounded[here - buffer.lowest], running.agg.type,
                                start, flushed);
        }
        store_scalar(running.agg.type, acc, k * stride, start);
        buffer.set_valid(here, true);
        if (!bounds) continue;
        buffer.bounded[here - buffer.lowest] = x;
        if (!is_sum) continue;
        Aggregating::Sum& sum = running.sums[static_cast<size_t>(here - buffer.lowest)];
        sum = {};
        if (!running.from_identity) add_term(sum, x);
      }
    }
  }
  if (is_sum) {
    for (int64_t k = 0; k < n; ++k)
      add_term(running.sums[static_cast<size_t>(at + k * stride)], bounds[k * value.stride]);
  } else if (bounds) {
    for (int64_t k = 0; k < n; ++k) {
      Bounded& x = buffer.bounded[at + k * stride];
      const Scalar pair[] = {load_scalar(running.agg.type, acc, k * stride),
                             element_of(running.agg.type, value, k)};
      const Bounded both[] = {x, bounds[k * value.stride]};
      const Scalar typed = store.combiner->reference(running.agg.type, pair);
      x = call_bounded(*store.combiner, running.agg.type, pair, both, typed, flushed);
      store_scalar(running.agg.type, acc, k * stride, typed);
    }
    return;
  }
  store.combine(acc, stride, value, n);
}

}  // namespace

template <bool kBounds>
bool Engine<kBounds>::run_flat(Frame& frame, FlatRun& run) {
  const BlockPlan& plan = *frame.plan;
  const FlatPlan& flat = run.plan;
  const auto row = static_cast<size_t>(flat.row);
  const int64_t* forms = frame.forms.data();
  do {
    int64_t from = 0, to = plan.idxs[row].range - 1;
    if (!clip_row(plan, forms, plan.coefficients_of(row), from, to)) continue;
    for (int64_t first = from; first <= to; first += kRow) {
      const int64_t n = std::min(kRow, to - first + 1);
      if (!load_row(run, frame.views, frame.bases, forms, first, n) ||
          !stores_fit(run, frame.views, frame.bases, forms, first, n)) {
        // Gives the same values, and names the point of an error.
        if (!run_row(frame, row, first, first + n - 1)) return false;
        continue;
      }
      for (const FlatPlan::Step& step : flat.steps)
        do_step(run, step, forms, first, n, options_.flushed, events_);
      for (const FlatPlan::Access& store : flat.stores) {
        const View& view = frame.views[static_cast<size_t>(store.ref)];
        const int64_t offset =
            frame.bases[static_cast<size_t>(store.ref)] + forms[store.form] + store.stride * first;
        const Column& value = run.columns[static_cast<size_t>(store.value)];
        const Bounded* bounds = kBounds ? run.bounded[static_cast<size_t>(store.value)] : nullptr;
        Buffer& buffer = *view.buffer;
        if (store.combine) {
          combine_row(*view.aggregating, buffer, store, offset, value, bounds, n, options_.flushed);
          continue;
        }
        scatter(buffer.type, buffer.data + offset * byte_size(buffer.type), store.stride, value, n);
        set_row_valid(buffer, offset, store.stride, n);
        if constexpr (kBounds)
          for (int64_t k = 0; k < n; ++k)
            buffer.bounded[offset - buffer.lowest + k * store.stride] = bounds[k * value.stride];
      }
    }
  } while (next_row(plan, flat.order.data(), flat.order.size(), frame.start.data(),
                    frame.position.data(), frame.forms.data()));
  return true;
}

template class Engine<false>;
template class Engine<true>;

}  // namespace stria::interp
