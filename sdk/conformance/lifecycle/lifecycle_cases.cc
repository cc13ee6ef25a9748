// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/lifecycle_cases.h"

#include "lifecycle/driver_cases.h"
#include "lifecycle/end_cases.h"
#include "lifecycle/enumerate_cases.h"
#include "lifecycle/growth_cases.h"
#include "lifecycle/open_cases.h"
#include "lifecycle/process_cases.h"
#include "lifecycle/teardown_cases.h"

namespace stria::conformance {

void add_lifecycle_cases(CaseMaker& maker) {
  add_enumerate_cases(maker);
  add_device_info_cases(maker);
  add_open_cases(maker);
  add_growth_cases(maker);
  add_driver_cases(maker);
  add_teardown_cases(maker);
  add_end_cases(maker);
  add_exit_cases(maker);
  add_fork_cases(maker);
  add_process_cases(maker);
  add_unload_cases(maker);
}

}  // namespace stria::conformance
