// SPDX-License-Identifier: Apache-2.0
#include "executables/executable_cases.h"

#include "executables/bad_text_cases.h"
#include "executables/build_cases.h"
#include "executables/kernel_list_cases.h"
#include "executables/launch_cases.h"

namespace stria::conformance {

void add_executable_cases(CaseMaker& maker) {
  add_build_cases(maker);
  add_bad_text_cases(maker);
  add_kernel_list_cases(maker);
  add_run_checks(maker);
  add_launch_cases(maker);
  add_batch_cases(maker);
  add_two_size_cases(maker);
  add_offset_cases(maker);
  add_library_cases_of_many(maker);
}

}  // namespace stria::conformance
