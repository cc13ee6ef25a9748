// SPDX-License-Identifier: Apache-2.0
// What statements of a concurrent kernel do to memory: as statements.cc, for typed values alone,
// and with every access told to its memory.
#include "stria/builtins/builtin.h"
#include "stria/interp/machine.h"
#include "stria/interp/program_run.h"
#include "stria/stripe/aggregation.h"
#include "stria/type/tensor_shape.h"

namespace stria::interp {

Status Machine::outside(const Activation& top, size_t slot, int64_t offset,
                        std::string_view what) const {
  const SharedMemory& memory = *top.views[slot].memory;
  return invalid_argument("block {}: {}: {} at offset {} of {}", top.where(), what,
                          top.plan->refs[slot].name, offset,
                          to_string(memory.buffer->type, memory.buffer->shape->sizes()));
}

Status Machine::poisoned(const Activation& top, size_t slot, int64_t offset) {
  if (poison_.ok())
    poison_ =
        outside(top, slot, offset, "a value that was never written reaches a tensor of the caller");
  return {};
}

Result<TypedValue> Machine::element(Agent& agent, Activation& top, size_t slot, DataType type,
                                    int64_t offset) {
  const SharedView& view = top.views[slot];
  const Buffer& buffer = *view.memory->buffer;
  if (!buffer.holds(offset)) return outside(top, slot, offset, "load outside the allocation");
  STRIA_RETURN_IF_ERROR(
      view.memory->touch(agents_, agent, offset, Touch::load, nullptr, *top.plan));
  TypedValue value;
  value.poison = !buffer.is_valid(offset);
  const Aggregating* running = view.aggregating.get();
  if (running && running->widened && running->has_started(offset))
    value.typed = convert(
        load_scalar(running->agg.type, running->running.data(), offset - buffer.lowest), type);
  else
    value.typed = load_scalar(type, buffer.data, offset);
  return value;
}

Status Machine::load(Agent& agent, Activation& top, const StmtPlan& stmt) {
  const auto slot = static_cast<size_t>(stmt.ref);
  const RefPlan& ref = top.plan->refs[slot];
  TypedValue& into = top.scalars[static_cast<size_t>(stmt.into)];
  if (ref.out_of_range != OutOfRange::error) {
    const std::vector<Dim>& dims = top.views[slot].memory->buffer->shape->dims;
    const std::vector<int64_t> at = top.coordinates(slot);
    bool inside =
        at.size() == dims.size() || top.views[slot].memory->buffer->holds(top.views[slot].offset);
    for (size_t d = 0; d < at.size() && at.size() == dims.size(); ++d)
      inside &= at[d] >= 0 && at[d] < dims[d].size;
    if (!inside) {
      into = exactly<TypedValue>(convert(Scalar::of_int(DataType::i32, 0), stmt.type));
      into.poison = ref.out_of_range == OutOfRange::poison;
      ++events_.clamped_reads;
      return {};
    }
  }
  const int64_t offset = top.views[slot].offset + clamped_offset(stmt, top.scalars.data(), events_);
  STRIA_ASSIGN(TypedValue value, element(agent, top, slot, stmt.type, offset));
  for (const Choice& choice : stmt.chosen)
    depend(value, top.scalars[static_cast<size_t>(choice.scalar)]);
  into = value;
  return {};
}

Status Machine::store(Agent& agent, Activation& top, const StmtPlan& stmt) {
  const auto slot = static_cast<size_t>(stmt.ref);
  const TypedValue value = converted(top.scalars[static_cast<size_t>(stmt.from[0])],
                                     stmt.operand_types[0], options_.flushed, events_);
  int64_t offset = top.views[slot].offset;
  for (const Choice& choice : stmt.chosen) {
    const TypedValue& at = top.scalars[static_cast<size_t>(choice.scalar)];
    if (at.poison)
      return outside(top, slot, offset, "a value that was never written chooses the element");
    if (side_of(at.typed, choice.size) != 0) {
      ++events_.dropped_writes;
      return {};
    }
    offset += choice.stride * at.typed.i;
  }
  if (!top.views[slot].memory->buffer->holds(offset))
    return outside(top, slot, offset, "store outside the allocation");
  return top.views[slot].aggregating ? aggregate(agent, top, stmt, offset, value)
                                     : put(agent, top, slot, offset, value);
}

Status Machine::put(Agent& agent, Activation& top, size_t slot, int64_t offset,
                    const TypedValue& value) {
  SharedMemory& memory = *top.views[slot].memory;
  STRIA_RETURN_IF_ERROR(memory.touch(agents_, agent, offset, Touch::store, nullptr, *top.plan));
  Buffer& buffer = *memory.buffer;
  if (value.poison && buffer.of_caller) return poisoned(top, slot, offset);
  store_scalar(buffer.type, buffer.data, offset, value.typed);
  buffer.set_valid(offset, !value.poison);
  return {};
}

Status Machine::aggregate(Agent& agent, Activation& top, const StmtPlan& stmt, int64_t offset,
                          const TypedValue& value) {
  const auto slot = static_cast<size_t>(stmt.ref);
  const SharedView& view = top.views[slot];
  Aggregating& running = *view.aggregating;
  STRIA_RETURN_IF_ERROR(
      view.memory->touch(agents_, agent, offset, Touch::combine, &running, *top.plan));
  events_.unordered_sums += view.memory->unordered_combinations && is_float(running.agg.type);
  view.memory->unordered_combinations = false;
  Buffer& buffer = *view.memory->buffer;
  const int64_t at = offset - buffer.lowest;
  TypedValue current;
  if (running.is_direct() || running.has_started(offset)) {
    current.typed = running.widened ? load_scalar(running.agg.type, running.running.data(), at)
                                    : load_scalar(buffer.type, buffer.data, offset);
    current.poison = !buffer.is_valid(offset);
  } else {
    running.start(offset);
    if (running.widened) running.touched.push_back(offset);
    if (running.from_identity) {
      current.typed = identity_of(running.agg);
    } else {
      current.typed = convert(load_scalar(buffer.type, buffer.data, offset), running.agg.type);
      current.poison = !buffer.is_valid(offset);
    }
  }
  const Scalar pair[] = {current.typed, value.typed};
  const Scalar result = stmt.builtin->reference(running.agg.type, pair);
  const bool poison = current.poison || value.poison;
  if (poison && buffer.of_caller) return poisoned(top, slot, offset);
  if (running.widened)
    store_scalar(running.agg.type, running.running.data(), at, result);
  else
    store_scalar(buffer.type, buffer.data, offset, result);
  buffer.set_valid(offset, !poison);
  return {};
}

Status Machine::whole_view(Agent& agent, Activation& top, const StmtPlan& stmt) {
  const auto out = static_cast<size_t>(stmt.ref);
  const bool copies = stmt.op == Op::copy;
  const auto in = static_cast<size_t>(copies ? stmt.source : stmt.ref);
  const TensorShape& to_shape = top.plan->refs[out].shape;
  const TensorShape& from_shape = top.plan->refs[in].shape;
  std::vector<int64_t> from;
  for_each_element(from_shape, [&](int64_t, int64_t offset) { from.push_back(offset); });
  Status status;
  for_each_element(to_shape, [&](int64_t position, int64_t offset) {
    if (!status.ok()) return;
    TypedValue value = exactly<TypedValue>(convert(Scalar::of_int(DataType::i32, 0), stmt.type));
    if (copies) {
      auto read = element(agent, top, in, from_shape.type,
                          top.views[in].offset + from[static_cast<size_t>(position)]);
      if (!read.ok()) {
        status = read.status();
        return;
      }
      value = converted(*read, stmt.type, options_.flushed, events_);
    }
    const int64_t to = top.views[out].offset + offset;
    status = top.views[out].memory->buffer->holds(to)
                 ? put(agent, top, out, to, value)
                 : outside(top, out, to, "store outside the allocation");
  });
  return status;
}

}  // namespace stria::interp
