// SPDX-License-Identifier: Apache-2.0
#include "other_slots.h"

#include <memory>
#include <stdexcept>

#include "chip_device.h"
#include "chosen.h"
#include "stria/sdk/plugin.h"

namespace third_chip {
namespace {

namespace sdk = stria::sdk;
using Slots = sdk::Tables<ChipDriver>;
using Callback = void (*)(void*, const stria_error*);

stria_error* without_message(stria_error* error) {
  if (error != nullptr) error->message = {nullptr, 0};
  return error;
}
stria_error* with_range_code(stria_error* error) {
  if (error != nullptr && error->code == STRIA_INVALID_ARGUMENT) error->code = STRIA_OUT_OF_RANGE;
  return error;
}

// The helper's slot, with `change` made to its error.
template <auto slot, auto change>
struct Changed;
template <typename... Args, stria_error* (*slot)(Args...), auto change>
struct Changed<slot, change> {
  static stria_error* call(Args... args) { return change(slot(args...)); }
};

stria_error* checked_copy(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                          stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                          stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  if (!sdk::has_range(sdk::as<sdk::Buffer>(source), source_offset, bytes) ||
      !sdk::has_range(sdk::as<sdk::Buffer>(target), target_offset, bytes))
    throw std::out_of_range("copy");
  return Slots::copy(executor, source, source_offset, target, target_offset, bytes, waits,
                     wait_count, done);
}

stria_error* transform(stria_compiler*, stria_string, stria_string, stria_string, stria_text_sink,
                       void*) {
  throw int{STRIA_NOT_FOUND};
}

stria_error* wait(stria_event* event, uint64_t timeout_ns) {
  return Slots::wait(event, timeout_ns == 0 ? 0 : UINT64_MAX);
}

stria_error* on_done_twice(stria_event* event, Callback callback, void* state) {
  // It may have ended between the look and the call, the author thought.
  const bool done = sdk::as<sdk::Event>(event).done();
  stria_error* error = Slots::on_done(event, callback, state);
  if (error == nullptr && done) error = Slots::on_done(event, callback, state);
  return error;
}

struct Caller {
  Callback callback;
  void* state;
};

stria_error* on_well_done(stria_event* event, Callback callback, void* state) {
  return Slots::on_done(
      event,
      [](void* raw, const stria_error* error) {
        const std::unique_ptr<Caller> caller(static_cast<Caller*>(raw));
        if (error == nullptr) caller->callback(caller->state, nullptr);
      },
      new Caller{callback, state});
}

stria_error* duration(stria_event* event, uint64_t* nanoseconds) {
  stria_error* error = Slots::duration_ns(event, nanoseconds);
  if (error == nullptr) *nanoseconds /= 1000;
  return error;
}

template <auto change>
void change_errors(AllTables& own) {
  own.driver.open = Changed<&Slots::open, change>::call;
  own.device.allocate = Changed<&Slots::allocate, change>::call;
  own.executor.prepare = Changed<&Slots::prepare, change>::call;
  own.executor.submit = Changed<&Slots::submit, change>::call;
  own.executor.copy = Changed<&Slots::copy, change>::call;
  own.executor.fill = Changed<&Slots::fill, change>::call;
  own.kernel.run = Changed<&Slots::run, change>::call;
}

}  // namespace

void put_other_slots(AllTables& own) {
  switch (chosen_mistake()) {
    case Mistake::event_table_61: own.event.size = 61; break;
    case Mistake::executor_table_24: own.executor.size = 24; break;
    case Mistake::buffer_table_0: own.buffer.size = 0; break;
    case Mistake::query_slot_null: own.event.query = nullptr; break;
    case Mistake::copy_range_throws: own.executor.copy = checked_copy; break;
    case Mistake::pass_throws_int: own.compiler.transform = transform; break;
    case Mistake::wait_limit_ignored: own.event.wait = wait; break;
    case Mistake::callback_twice: own.event.on_done = on_done_twice; break;
    case Mistake::callback_not_on_failure: own.event.on_done = on_well_done; break;
    case Mistake::range_code:
      own.kernel.run = Changed<&Slots::run, &with_range_code>::call;
      own.executor.submit = Changed<&Slots::submit, &with_range_code>::call;
      break;
    case Mistake::empty_messages: change_errors<&without_message>(own); break;
    case Mistake::duration_in_us: own.event.duration_ns = duration; break;
    default: break;
  }
}

}  // namespace third_chip
