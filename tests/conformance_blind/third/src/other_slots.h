// SPDX-License-Identifier: Apache-2.0
// Slots that are not the helper's.
#pragma once

#include "stria/plugin.h"

namespace third_chip {

struct AllTables {
  stria_driver_table driver;
  stria_device_table device;
  stria_compiler_table compiler;
  stria_library_table library;
  stria_kernel_table kernel;
  stria_executor_table executor;
  stria_buffer_table buffer;
  stria_event_table event;
};

// `own` has the helper's slots. Puts the chosen mistake in their place.
void put_other_slots(AllTables& own);

}  // namespace third_chip
