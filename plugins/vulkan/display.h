// SPDX-License-Identifier: Apache-2.0
// Does a GPU drive a display? Then its watchdog may end work that keeps the display waiting.
//
// No function of Vulkan says so. The kernel's connectors do: /sys/class/drm/card0-HDMI-A-1/status
// is "connected", and the link leads through the folder of the GPU's PCI address.
#pragma once

#include <filesystem>
#include <string>

namespace stria::vulkan {

// `pci`: "0000:01:00.0", as the kernel writes it. Empty, where the driver does not say it: then any
// display of the machine counts. A folder that cannot be read has none.
bool drives_display(const std::string& pci,
                    const std::filesystem::path& connectors = "/sys/class/drm");

}  // namespace stria::vulkan
