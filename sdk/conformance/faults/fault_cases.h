// SPDX-License-Identifier: Apache-2.0
// Group F: no memory, failed waits, lost devices, work that is released in flight.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_fault_cases(CaseMaker& maker);

// Its parts.
void add_no_memory_cases(CaseMaker& maker);
void add_cache_cases(CaseMaker& maker);
void add_failed_wait_cases(CaseMaker& maker);
void add_in_flight_cases(CaseMaker& maker);
void add_huge_cases(CaseMaker& maker);
void add_refused_run_cases(CaseMaker& maker);
void add_error_cases(CaseMaker& maker);

}  // namespace stria::conformance
