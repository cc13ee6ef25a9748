// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_cases.h"

#include "memory/allocation_cases.h"
#include "memory/copy_cases.h"
#include "memory/far_offset_cases.h"
#include "memory/fill_cases.h"
#include "memory/life_cases.h"
#include "memory/map_cases.h"
#include "memory/map_order_cases.h"
#include "memory/range_cases.h"
#include "memory/release_cases.h"
#include "memory/sharing_cases.h"

namespace stria::conformance {

void add_memory_cases(CaseMaker& maker) {
  add_memory_allocation_cases(maker);
  add_memory_copy_cases(maker);
  add_memory_fill_cases(maker);
  add_memory_far_offset_cases(maker);
  add_memory_map_cases(maker);
  add_memory_map_order_cases(maker);
  add_memory_life_cases(maker);
  add_memory_range_cases(maker);
  add_memory_release_cases(maker);
  add_memory_sharing_cases(maker);
}

}  // namespace stria::conformance
