// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_cases.h"

namespace stria::conformance {

void add_fault_cases(CaseMaker& maker) {
  add_no_memory_cases(maker);
  add_cache_cases(maker);
  add_failed_wait_cases(maker);
  add_in_flight_cases(maker);
  add_huge_cases(maker);
  add_refused_run_cases(maker);
  add_error_cases(maker);
}

}  // namespace stria::conformance
