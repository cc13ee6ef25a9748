// SPDX-License-Identifier: Apache-2.0
#include "negotiation/negotiation_cases.h"

#include "negotiation/extension_cases.h"
#include "negotiation/identity_cases.h"
#include "negotiation/passed_struct_cases.h"
#include "negotiation/service_cases.h"
#include "negotiation/struct_cases.h"
#include "negotiation/table_cases.h"
#include "negotiation/version_cases.h"

namespace stria::conformance {

void add_negotiation_cases(CaseMaker& maker) {
  add_version_cases(maker);
  add_struct_cases(maker);
  add_identity_cases(maker);
  add_table_cases(maker);
  add_extension_cases(maker);
  add_service_cases(maker);
  add_passed_struct_cases(maker);
}

}  // namespace stria::conformance
