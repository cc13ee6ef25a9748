// SPDX-License-Identifier: Apache-2.0
// What a driver says of the fault that has cost a device (VK_EXT_device_fault).
#pragma once

#include <string>

namespace stria::vulkan {

class Context;

// A clause for messages: "the driver reports: …, invalid write at 0x7f3000"; "" if the driver has
// no such extension or nothing to say. Only after VK_ERROR_DEVICE_LOST.
std::string fault_report(const Context& context);

}  // namespace stria::vulkan
