// SPDX-License-Identifier: Apache-2.0
// Launches: kernel.run and executor.submit, what they check, what they wait for, what they keep.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_run_checks(CaseMaker& maker);             // run_check_cases.cc
void add_launch_cases(CaseMaker& maker);           // launch_cases.cc
void add_batch_cases(CaseMaker& maker);            // batch_cases.cc
void add_two_size_cases(CaseMaker& maker);         // two_size_cases.cc
void add_offset_cases(CaseMaker& maker);           // offset_cases.cc
void add_library_cases_of_many(CaseMaker& maker);  // library_life_cases.cc

}  // namespace stria::conformance
