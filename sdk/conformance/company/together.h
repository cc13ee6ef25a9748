// SPDX-License-Identifier: Apache-2.0
// Two plugins in one process, in every order.
#pragma once

#include <string>
#include <vector>

#include "suite/other_plugin.h"

namespace stria::conformance {

// Work of the subject: a round, and the suite's program if its device can run it.
Status subject_works(Subject& subject, uint32_t seed);

struct Order {
  const char* name;
  Status (*run)(Subject& subject, OtherPlugin& other);
};
// Nothing of either is loaded when an order begins; both have ended when it is over.
const std::vector<Order>& all_orders();

}  // namespace stria::conformance
