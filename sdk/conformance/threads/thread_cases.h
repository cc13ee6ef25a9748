// SPDX-License-Identifier: Apache-2.0
// Group T: what may be called at once, and what must return at once.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_thread_cases(CaseMaker& maker);

// Its parts.
void add_any_slot_cases(CaseMaker& maker);
void add_own_handle_cases(CaseMaker& maker);
void add_callback_cases(CaseMaker& maker);
void add_returning_cases(CaseMaker& maker);
void add_crowd_cases(CaseMaker& maker);
void add_service_lock_cases(CaseMaker& maker);

}  // namespace stria::conformance
