// SPDX-License-Identifier: Apache-2.0
#include "company/company_cases.h"

namespace stria::conformance {

void add_company_cases(CaseMaker& maker) {
  add_neighbour_cases(maker);
  add_own_copy_cases(maker);
  add_library_company_cases(maker);
  add_place_cases(maker);
}

}  // namespace stria::conformance
