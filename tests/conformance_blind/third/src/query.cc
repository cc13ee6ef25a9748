// SPDX-License-Identifier: Apache-2.0
// The one symbol: the helper's tables, and what the chosen mistake puts in their place.
#include "chip_device.h"
#include "chosen.h"
#include "other_slots.h"
#include "stria/sdk/plugin.h"

namespace third_chip {
namespace {

using Slots = stria::sdk::Tables<ChipDriver>;

const AllTables& all_tables() {
  static const AllTables tables = [] {
    AllTables own{Slots::driver_table,  Slots::device_table, Slots::compiler_table,
                  Slots::library_table, Slots::kernel_table, Slots::executor_table,
                  Slots::buffer_table,  Slots::event_table};
    put_other_slots(own);
    return own;
  }();
  return tables;
}

}  // namespace
}  // namespace third_chip

// The id is that of plugin.json, and so is the version.
extern "C" STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                                        stria_plugin_info* plugin) {
  using third_chip::Mistake;
  stria_error* error = stria::sdk::query<third_chip::ChipDriver>(host, plugin, "third", "0.1.0");
  if (third_chip::makes(Mistake::none) || plugin->size < sizeof *plugin) return error;
  const third_chip::AllTables& tables = third_chip::all_tables();
  plugin->driver = &tables.driver;
  plugin->device = &tables.device;
  plugin->compiler = &tables.compiler;
  plugin->library = &tables.library;
  plugin->kernel = &tables.kernel;
  plugin->executor = &tables.executor;
  plugin->buffer = &tables.buffer;
  plugin->event = &tables.event;
  if (third_chip::makes(Mistake::minor_not_common)) plugin->abi_minor = STRIA_ABI_MINOR;
  return error;
}
