// SPDX-License-Identifier: Apache-2.0
// Errors that are none, or that do not stand alone.
#include <cstring>
#include <string>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

using Edit = void (*)(stria_error& error);

// Every error of a slot that fails often, after a change.
template <auto kRight, Edit kEdit>
struct Edited;
template <typename... Args, stria_error* (*kRight)(Args...), Edit kEdit>
struct Edited<kRight, kEdit> {
  static stria_error* call(Args... args) {
    stria_error* const error = kRight(args...);
    if (error) kEdit(*error);
    return error;
  }
};
template <Edit kEdit>
void plant_edit(WrongObject& object) {
  hal::Tables& tables = object.tables;
  tables.driver.open = Edited<Right::driver_table.open, kEdit>::call;
  tables.device.allocate = Edited<Right::device_table.allocate, kEdit>::call;
  tables.kernel.run = Edited<Right::kernel_table.run, kEdit>::call;
  tables.event.wait = Edited<Right::event_table.wait, kEdit>::call;
  tables.event.status = Edited<Right::event_table.status, kEdit>::call;
}

// One room for the texts of all errors: the next one overwrites the last one's.
void into_one_room(stria_error& error) {
  static thread_local char room[256];
  const size_t size = std::min<size_t>(error.message.size, sizeof room);
  std::memcpy(room, error.message.data, size);
  error.message = {room, size};
}

// One error for all failures of a thread.
stria_error* the_only_error(stria_error* error) {
  static thread_local stria_error only{};
  static thread_local std::string message;
  if (!error) return nullptr;
  message = sdk::view_of(error->message);
  only = {};
  only.size = sizeof only;
  only.code = error->code;
  only.message = sdk::to_c(message);
  only.release = [](stria_error*) {};
  error->release(error);
  return &only;
}
template <auto kRight>
struct OneError;
template <typename... Args, stria_error* (*kRight)(Args...)>
struct OneError<kRight> {
  static stria_error* call(Args... args) { return the_only_error(kRight(args...)); }
};
// Its texts are the driver's: they go with it.
std::string& text_of_driver() {
  static auto* const text = new std::string;
  return *text;
}
void of_driver(stria_error& error) {
  text_of_driver() = sdk::view_of(error.message);
  error.message = sdk::to_c(text_of_driver());
}
void shutdown_with_texts(stria_driver* driver) {
  Right::shutdown(driver);
  text_of_driver().assign(text_of_driver().size(), '?');
}

constexpr Mistake kAll[] = {
    {"error.of_no_size", plant_edit<[](stria_error& e) { e.size = 0; }>},
    {"error.ends_within_release", plant_edit<[](stria_error& e) { e.size = sizeof e - 4; }>},
    {"error.of_success", plant_edit<[](stria_error& e) { e.code = STRIA_OK; }>},
    {"error.of_code_99", plant_edit<[](stria_error& e) { e.code = 99; }>},
    {"error.of_code_minus_5", plant_edit<[](stria_error& e) { e.code = -5; }>},
    {"error.without_message", plant_edit<[](stria_error& e) { e.message = {nullptr, 0}; }>},
    {"error.message_without_data", plant_edit<[](stria_error& e) { e.message.data = nullptr; }>},
    {"error.message_of_absurd_size",
     plant_edit<[](stria_error& e) { e.message.size = UINT64_MAX; }>},
    {"error.without_release", plant_edit<[](stria_error& e) { e.release = nullptr; }>},
    {"error.says_nothing",
     plant_edit<[](stria_error& e) { e.message = sdk::to_c("an error occurred"); }>},
    {"error.code_is_always_internal", plant_edit<[](stria_error& e) { e.code = STRIA_INTERNAL; }>},
    {"error.texts_share_a_room", plant_edit<into_one_room>},
    {"error.one_for_all",
     [](WrongObject& o) {
       o.tables.driver.open = OneError<Right::driver_table.open>::call;
       o.tables.device.allocate = OneError<Right::device_table.allocate>::call;
       o.tables.event.status = OneError<Right::event_table.status>::call;
       o.tables.event.signal = OneError<Right::event_table.signal>::call;
     }},
    {"error.texts_go_with_the_driver",
     [](WrongObject& o) {
       plant_edit<of_driver>(o);
       o.tables.driver.shutdown = shutdown_with_texts;
     }},
    {"error.cause_is_itself", plant_edit<[](stria_error& e) {
       // Its own release must not follow the ring: it owns nothing.
       e.cause = &e;
     }>},
};

}  // namespace

std::span<const Mistake> error_mistakes() { return kAll; }

}  // namespace stria::wrong
