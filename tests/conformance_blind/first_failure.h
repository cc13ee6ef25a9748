// SPDX-License-Identifier: Apache-2.0
// For the mistake failure_by_time.
#pragma once

#include "stria/sdk/event.h"
#include "stria/sdk/host.h"

namespace stria::blind {

// Done when all `waits` are, with the failure that came first, wherever its event stands in the
// list.
sdk::Ref<sdk::Event> first_failure_in_time(const sdk::Host& host, sdk::Waits waits);

}  // namespace stria::blind
