// SPDX-License-Identifier: Apache-2.0
// The exported symbol.
#include "stria/sdk/plugin.h"

#include "driver.h"

STRIA_PLUGIN(stria::vulkan::VulkanDriver, "vulkan", "0.1.0")
