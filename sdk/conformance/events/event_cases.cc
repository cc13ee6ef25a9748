// SPDX-License-Identifier: Apache-2.0
#include "events/event_cases.h"

#include "events/callback_cases.h"
#include "events/drain_cases.h"
#include "events/event_end_cases.h"
#include "events/executor_cases.h"
#include "events/failure_cases.h"
#include "events/graph_cases.h"
#include "events/order_cases.h"
#include "events/signal_cases.h"
#include "events/state_cases.h"
#include "events/timeout_cases.h"
#include "events/wait_list_cases.h"

namespace stria::conformance {

void add_event_cases(CaseMaker& maker) {
  add_event_state_cases(maker);
  add_event_order_cases(maker);
  add_event_wait_list_cases(maker);
  add_event_failure_cases(maker);
  add_event_signal_cases(maker);
  add_event_callback_cases(maker);
  add_event_timeout_cases(maker);
  add_event_drain_cases(maker);
  add_event_end_cases(maker);
  add_event_executor_cases(maker);
  add_event_graph_cases(maker);
}

}  // namespace stria::conformance
