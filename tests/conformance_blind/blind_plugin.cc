// SPDX-License-Identifier: Apache-2.0
// The one symbol. Without a mistake the helper's tables go out as they are.
#include <cstddef>

#include "chip_driver.h"
#include "mistake.h"
#include "slot_tables.h"
#include "stria/sdk/plugin.h"

namespace stria::blind {
namespace {

const SlotTables& wrong_tables() {
  static const SlotTables tables = [] {
    SlotTables made;
    replace_struct_slots(made);
    replace_event_slots(made);
    replace_work_slots(made);
    return made;
  }();
  return tables;
}

void put_tables(stria_plugin_info& plugin) {
  // A host that knows less than all tables gets none of these.
  if (plugin.size < offsetof(stria_plugin_info, event) + sizeof plugin.event) return;
  const SlotTables& tables = wrong_tables();
  plugin.driver = &tables.driver;
  plugin.device = &tables.device;
  plugin.compiler = &tables.compiler;
  plugin.library = &tables.library;
  plugin.kernel = &tables.kernel;
  plugin.executor = &tables.executor;
  plugin.buffer = &tables.buffer;
  plugin.event = &tables.event;
}

stria_error* query(const stria_host_info* host, stria_plugin_info* plugin) {
  // As if the struct of whoever calls were the plugin's own.
  if (makes(Mistake::info_written_whole)) plugin->size = sizeof *plugin;
  stria_error* const error = sdk::query<ChipDriver>(host, plugin, "blind", "1.0.0");
  if (!makes(Mistake::none)) put_tables(*plugin);
  return error;
}

}  // namespace
}  // namespace stria::blind

extern "C" STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                                        stria_plugin_info* plugin) {
  return stria::blind::query(host, plugin);
}
