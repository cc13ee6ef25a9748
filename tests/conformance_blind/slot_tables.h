// SPDX-License-Identifier: Apache-2.0
// The plugin's tables, for mistakes that are made where C++ meets C: what the helper does right
// there is replaced slot by slot.
#pragma once

#include "chip_driver.h"
#include "stria/plugin.h"
#include "stria/sdk/plugin.h"

namespace stria::blind {

using RightSlots = sdk::Tables<ChipDriver>;

struct SlotTables {
  stria_driver_table driver = RightSlots::driver_table;
  stria_device_table device = RightSlots::device_table;
  stria_compiler_table compiler = RightSlots::compiler_table;
  stria_library_table library = RightSlots::library_table;
  stria_kernel_table kernel = RightSlots::kernel_table;
  stria_executor_table executor = RightSlots::executor_table;
  stria_buffer_table buffer = RightSlots::buffer_table;
  stria_event_table event = RightSlots::event_table;
};

// Each puts in the slots of the chosen mistake, if that is one of its own.
void replace_struct_slots(SlotTables& tables);
void replace_event_slots(SlotTables& tables);
void replace_work_slots(SlotTables& tables);

}  // namespace stria::blind
