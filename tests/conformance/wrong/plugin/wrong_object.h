// SPDX-License-Identifier: Apache-2.0
// What the shared object gives to the host, and the mistakes that can be planted in it.
#pragma once

#include <span>
#include <string_view>

#include "right.h"
#include "stria/hal/boundary/tables.h"

namespace stria::wrong {

struct WrongObject {
  hal::Tables tables;
  stria_plugin_query_function query = nullptr;
  const void* (*get_extension)(stria_string name, uint32_t version) = nullptr;
};
// The one of this shared object; right until something is planted. Never destroyed.
WrongObject& object();
// The right answer to stria_plugin_query, with the object's tables.
stria_error* right_query(const stria_host_info* host, stria_plugin_info* plugin);

struct Mistake {
  std::string_view name;
  void (*plant)(WrongObject& object);  // into it and into hooks()
};

// Those that are single, by what they are about.
std::span<const Mistake> memory_mistakes();
std::span<const Mistake> map_mistakes();
std::span<const Mistake> kernel_mistakes();
std::span<const Mistake> misread_mistakes();
std::span<const Mistake> order_mistakes();
std::span<const Mistake> failure_mistakes();
std::span<const Mistake> event_mistakes();
std::span<const Mistake> device_mistakes();
std::span<const Mistake> kernel_list_mistakes();
std::span<const Mistake> error_mistakes();
std::span<const Mistake> time_mistakes();
std::span<const Mistake> answer_mistakes();

// Families, whose names end with the slot: "hang.executor.copy". False if there is no such kind or
// slot. spoilt_slots.cc says which kinds there are.
bool plant_in_slot(std::string_view kind, std::string_view slot, WrongObject& object);
// The same for tables, "size_0.executor": spoilt_tables.cc.
bool plant_in_table(std::string_view kind, std::string_view table, WrongObject& object);

// Plants the mistake of that name; "none" is none. False if there is no such mistake.
bool plant(std::string_view name, WrongObject& object);
// Whether there is such a mistake, those of loading, unloading and exiting among them.
bool is_known(std::string_view name);
// The names of all that belong to no family.
std::vector<std::string_view> single_mistakes();

}  // namespace stria::wrong
