// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/boundary/tables.h"

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

Tables normalise(const stria_plugin_info& info) {
  Tables tables = copied(info);
#define SLOT(table, slot) \
  if (!tables.table.slot) \
    tables.table.slot = Stub<&missing_##table##_##slot, decltype(tables.table.slot)>::call;
#include "stria/hal/boundary/slots.def"
  return tables;
}

}  // namespace stria::hal
