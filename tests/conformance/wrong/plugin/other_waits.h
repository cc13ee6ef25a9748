// SPDX-License-Identifier: Apache-2.0
// Slots that wait for other events than they were asked to.
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include "wrong_object.h"

namespace stria::wrong {

// The list that is waited for; may hold events of its own, which it gives back.
class WaitList {
 public:
  WaitList(stria_event* const* waits, uint64_t count) : events(waits, waits + count) {}
  ~WaitList() {
    for (stria_event* event : own_) Right::event_table.release(event);
  }
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;
  void take(stria_event* event) { own_.push_back(event); }

  std::vector<stria_event*> events;

 private:
  std::vector<stria_event*> own_;
};

using ChangeWaits = void (*)(WaitList& list);

// A slot whose list of waits is changed before the right one gets it.
template <auto kRight, ChangeWaits kChange>
struct OtherWaits;
template <typename... First, stria_error* (*kRight)(First...), ChangeWaits kChange>
struct OtherWaits<kRight, kChange> {
  static stria_error* call(First... arguments) { return changed(arguments...); }

 private:
  // The list comes somewhere among the arguments, right before its count.
  template <typename... Before>
  static stria_error* changed(Before... arguments) {
    auto all = std::make_tuple(arguments...);
    constexpr size_t kAt = place_of_list<0, Before...>();
    WaitList list(std::get<kAt>(all), std::get<kAt + 1>(all));
    kChange(list);
    std::get<kAt>(all) = list.events.data();
    std::get<kAt + 1>(all) = list.events.size();
    return std::apply(kRight, all);
  }
  template <size_t kAt, typename One, typename... Rest>
  static constexpr size_t place_of_list() {
    if constexpr (std::is_same_v<One, stria_event* const*>)
      return kAt;
    else
      return place_of_list<kAt + 1, Rest...>();
  }
};

// In all of them, or in one: plant_waits<…>(object, "executor.copy").
template <ChangeWaits kChange>
void plant_waits(WrongObject& object, std::string_view slot = {}) {
  hal::Tables& tables = object.tables;
#define WAITS(table, member)                      \
  if (slot.empty() || slot == #table "." #member) \
  tables.table.member = OtherWaits<Right::table##_table.member, kChange>::call
  WAITS(compiler, build);
  WAITS(executor, submit);
  WAITS(executor, copy);
  WAITS(executor, fill);
  WAITS(kernel, run);
  WAITS(buffer, map_current);
  WAITS(buffer, map_discard);
  WAITS(buffer, map_read);
#undef WAITS
}

}  // namespace stria::wrong
