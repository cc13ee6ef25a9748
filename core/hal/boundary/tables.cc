// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/boundary/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "stria/hal/boundary/lasting_error.h"
#include "stria/hal/boundary/sized.h"

namespace stria::hal {
namespace {

#define SLOT(table, slot)                          \
  constinit stria_error missing_##table##_##slot = \
      lasting_error(STRIA_UNIMPLEMENTED, "the plugin has no slot " #table "." #slot);
#include "stria/hal/boundary/slots.def"

template <stria_error* kError, typename Function>
struct Stub;
template <stria_error* kError, typename... Args>
struct Stub<kError, stria_error* (*)(Args...)> {
  static stria_error* call(Args...) { return kError; }
};
template <stria_error* kError, typename... Args>
struct Stub<kError, void (*)(Args...)> {
  static void call(Args...) {}
};

// What lies within both sizes; a slot that `from` has only in part counts as missing.
template <typename Table>
Table copied(const Table* from) {
  Table table{};
  if (is_address(from, alignof(Table))) {
    size_t bytes = std::min<uint64_t>(from->size, sizeof(Table));
    std::memcpy(static_cast<void*>(&table), from, bytes - bytes % sizeof(void*));
  }
  table.size = sizeof(Table);
  table.next = nullptr;
  return table;
}

Tables copied(const stria_plugin_info& info) {
  return {
      copied(STRIA_SIZED(info, driver, nullptr)),   copied(STRIA_SIZED(info, device, nullptr)),
      copied(STRIA_SIZED(info, compiler, nullptr)), copied(STRIA_SIZED(info, library, nullptr)),
      copied(STRIA_SIZED(info, kernel, nullptr)),   copied(STRIA_SIZED(info, executor, nullptr)),
      copied(STRIA_SIZED(info, buffer, nullptr)),   copied(STRIA_SIZED(info, event, nullptr))};
}

// A slot that a table has and slots.def lacks would stay null.
#define SLOT(table, slot) +1
constexpr size_t kListed = 0
#include "stria/hal/boundary/slots.def"
    ;
constexpr size_t kHeader = offsetof(stria_driver_table, create);  // size and next
static_assert(sizeof(Tables) == 8 * kHeader + kListed * sizeof(void*));

}  // namespace

TableSizes sizes_of(const stria_plugin_info& info) {
  const auto size = [](const auto* table) -> uint64_t {
    return is_address(table, alignof(uint64_t)) ? table->size : 0;
  };
  return {size(STRIA_SIZED(info, driver, nullptr)),   size(STRIA_SIZED(info, device, nullptr)),
          size(STRIA_SIZED(info, compiler, nullptr)), size(STRIA_SIZED(info, library, nullptr)),
          size(STRIA_SIZED(info, kernel, nullptr)),   size(STRIA_SIZED(info, executor, nullptr)),
          size(STRIA_SIZED(info, buffer, nullptr)),   size(STRIA_SIZED(info, event, nullptr))};
}

std::string why_missing(const stria_error* error, const TableSizes& sizes) {
  const auto text = [](const char* table, uint64_t size, size_t begin) {
    if (size == 0) return fmt::format("it gave no {}", table);
    if (size < begin + sizeof(void*))
      return fmt::format("its {} says that it has {} bytes, the slot is bytes {} to {}", table,
                         size, begin, begin + sizeof(void*) - 1);
    return fmt::format("its {} of {} bytes has NULL there", table, size);
  };
#define SLOT(table, slot)                 \
  if (error == &missing_##table##_##slot) \
    return text("stria_" #table "_table", sizes.table, offsetof(stria_##table##_table, slot));
#include "stria/hal/boundary/slots.def"
  return "";
}

Tables normalise(const stria_plugin_info& info) {
  Tables tables = copied(info);
#define SLOT(table, slot) \
  if (!tables.table.slot) \
    tables.table.slot = Stub<&missing_##table##_##slot, decltype(tables.table.slot)>::call;
#include "stria/hal/boundary/slots.def"
  return tables;
}

}  // namespace stria::hal
