// SPDX-License-Identifier: Apache-2.0
#include "display.h"

#include <fstream>
#include <system_error>

namespace stria::vulkan {

bool drives_display(const std::string& pci, const std::filesystem::path& connectors) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator at(connectors, error), end; !error && at != end;
       at.increment(error)) {
    std::string status;
    std::ifstream(at->path() / "status") >> status;
    if (status != "connected") continue;
    if (pci.empty()) return true;
    std::error_code unknown;
    const fs::path device = fs::canonical(at->path(), unknown);
    if (!unknown && device.string().find("/" + pci + "/") != std::string::npos) return true;
  }
  return false;
}

}  // namespace stria::vulkan
