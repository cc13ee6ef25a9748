// SPDX-License-Identifier: Apache-2.0
#include "stria/sdk/plugin.h"

#include "driver.h"

STRIA_PLUGIN(stria::slow_device::SlowDriver, "slow_device", "0.1.0")
