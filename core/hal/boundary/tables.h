// SPDX-License-Identifier: Apache-2.0
// The host's own full-size copy of a plugin's tables. After normalise() no call site checks a size
// or a null pointer: what the plugin lacks returns unimplemented, or does nothing if it returns
// nothing.
#pragma once

#include <cstdint>
#include <string>

#include "stria/plugin.h"

namespace stria::hal {

struct Tables {
  stria_driver_table driver;
  stria_device_table device;
  stria_compiler_table compiler;
  stria_library_table library;
  stria_kernel_table kernel;
  stria_executor_table executor;
  stria_buffer_table buffer;
  stria_event_table event;
};

// `info` as the plugin filled it in; its own size says how much of it counts.
Tables normalise(const stria_plugin_info& info);

// The bytes that each of the plugin's tables says it has; 0 for one that it did not give.
struct TableSizes {
  uint64_t driver, device, compiler, library, kernel, executor, buffer, event;
};
TableSizes sizes_of(const stria_plugin_info& info);
// Why a slot is missing whose stand-in gave `error`; "" if it is no such error.
std::string why_missing(const stria_error* error, const TableSizes& sizes);

}  // namespace stria::hal
