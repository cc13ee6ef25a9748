// SPDX-License-Identifier: Apache-2.0
#include "threads/thread_cases.h"

namespace stria::conformance {

void add_thread_cases(CaseMaker& maker) {
  add_any_slot_cases(maker);
  add_own_handle_cases(maker);
  add_callback_cases(maker);
  add_returning_cases(maker);
  add_crowd_cases(maker);
  add_service_lock_cases(maker);
}

}  // namespace stria::conformance
