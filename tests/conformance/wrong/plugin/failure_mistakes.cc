// SPDX-License-Identifier: Apache-2.0
// Failures that are not passed on, or passed on as something else.
#include <algorithm>
#include <atomic>
#include <memory>

#include "other_waits.h"

namespace stria::wrong {
namespace {

// Whatever becomes of what it waits for, the work is done.
void ends_of_waits(WaitList& list) {
  for (stria_event*& event : list.events) {
    stria_event* end = nullptr;
    if (stria_error* error = Right::end(event, &end)) {
      error->release(error);
      continue;
    }
    list.take(end);
    event = end;
  }
}
// Only the failure of a host event reaches its dependants.
void ends_of_works(WaitList& list) {
  for (stria_event*& event : list.events) {
    if (!sdk::as<sdk::Event>(event).is_work()) continue;
    stria_event* end = nullptr;
    if (stria_error* error = Right::end(event, &end)) {
      error->release(error);
      continue;
    }
    list.take(end);
    event = end;
  }
}
// The failure of the last one in the list is the work's.
void backward(WaitList& list) { std::reverse(list.events.begin(), list.events.end()); }

// ---- what an event says of its failure

using Edit = void (*)(sdk::Failure& failure);

sdk::Outcome edited(const sdk::Outcome& outcome, Edit edit) {
  if (!outcome) return nullptr;
  auto copy = std::make_shared<sdk::Failure>(*outcome);
  edit(*copy);
  return copy;
}

template <Edit kEdit>
stria_error* status(stria_event* event) {
  auto& self = sdk::as<sdk::Event>(event);
  if (!self.done()) return Right::status(event);
  return sdk::to_error(edited(self.outcome(), kEdit));
}

struct Callback {
  void (*call)(void*, const stria_error*);
  void* state;
  Edit edit;
};
template <Edit kEdit>
stria_error* on_done(stria_event* event, void (*callback)(void*, const stria_error*), void* state) {
  return Right::on_done(
      event,
      [](void* raw, const stria_error* error) {
        const std::unique_ptr<Callback> own(static_cast<Callback*>(raw));
        const sdk::Outcome outcome = edited(sdk::outcome_of(error), own->edit);
        stria_error* const shown = sdk::to_error(outcome);
        own->call(own->state, shown);
        if (shown) shown->release(shown);
      },
      new Callback{callback, state, kEdit});
}
template <Edit kEdit>
void plant_failure(WrongObject& object) {
  object.tables.event.status = status<kEdit>;
  object.tables.event.on_done = on_done<kEdit>;
}

stria_error* status_is_well(stria_event* event) {
  stria_error* const error = Right::status(event);
  if (!error || error->code == STRIA_FAILED_PRECONDITION) return error;
  error->release(error);
  return nullptr;
}

stria_error* on_done_without_error(stria_event* event, void (*callback)(void*, const stria_error*),
                                   void* state) {
  return Right::on_done(
      event,
      [](void* raw, const stria_error*) {
        const std::unique_ptr<Callback> own(static_cast<Callback*>(raw));
        own->call(own->state, nullptr);
      },
      new Callback{callback, state, nullptr});
}

// Who is told of the failure may not keep what he was told: it is the signaller's own.
stria_error* signal_that_gives_back(stria_event* event, const stria_error* error) {
  stria_error* const refused = Right::signal(event, error);
  if (error && error->release) error->release(const_cast<stria_error*>(error));
  return refused;
}

constexpr Mistake kAll[] = {
    {"failure.ignored_by_build",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "compiler.build"); }},
    {"failure.ignored_by_submit",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "executor.submit"); }},
    {"failure.ignored_by_copy",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "executor.copy"); }},
    {"failure.ignored_by_fill",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "executor.fill"); }},
    {"failure.ignored_by_run", [](WrongObject& o) { plant_waits<ends_of_waits>(o, "kernel.run"); }},
    {"failure.ignored_by_map_current",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "buffer.map_current"); }},
    {"failure.ignored_by_map_discard",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "buffer.map_discard"); }},
    {"failure.ignored_by_map_read",
     [](WrongObject& o) { plant_waits<ends_of_waits>(o, "buffer.map_read"); }},
    {"failure.goes_one_step", [](WrongObject& o) { plant_waits<ends_of_works>(o); }},
    {"failure.of_the_last_wait", [](WrongObject& o) { plant_waits<backward>(o); }},
    {"failure.loses_its_code", plant_failure<[](sdk::Failure& f) { f.code = STRIA_INTERNAL; }>},
    {"failure.loses_its_message",
     plant_failure<[](sdk::Failure& f) { f.message = "the work has failed"; }>},
    {"failure.loses_its_native_code", plant_failure<[](sdk::Failure& f) { f.native_code = 0; }>},
    {"failure.loses_its_native_message",
     plant_failure<[](sdk::Failure& f) { f.native_message.clear(); }>},
    {"failure.loses_its_place",
     plant_failure<[](sdk::Failure& f) { f.place = f.suggestion = ""; }>},
    {"failure.loses_its_causes", plant_failure<[](sdk::Failure& f) { f.cause = nullptr; }>},
    {"failure.message_is_cut", plant_failure<[](sdk::Failure& f) {
       f.message.resize(std::min<size_t>(f.message.size(), 64));
     }>},
    {"failure.status_is_well", [](WrongObject& o) { o.tables.event.status = status_is_well; }},
    {"failure.callback_has_none",
     [](WrongObject& o) { o.tables.event.on_done = on_done_without_error; }},
    {"failure.gives_back_the_callers",
     [](WrongObject& o) { o.tables.event.signal = signal_that_gives_back; }},
};

}  // namespace

std::span<const Mistake> failure_mistakes() { return kAll; }

}  // namespace stria::wrong
