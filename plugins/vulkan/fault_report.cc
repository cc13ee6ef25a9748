// SPDX-License-Identifier: Apache-2.0
#include "fault_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "context.h"

namespace stria::vulkan {
namespace {

// The most of each kind that a message names.
constexpr uint32_t kMost = 8;

const char* name_of(VkDeviceFaultAddressTypeEXT type) {
  switch (type) {
    case VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT: return "invalid read";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT: return "invalid write";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT: return "invalid instruction fetch";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT: return "faulty instruction";
    case VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_INVALID_EXT:
      return "invalid instruction pointer";
    default: return "fault";
  }
}

}  // namespace

std::string fault_report(const Context& context) {
  const auto ask = context.vk().vkGetDeviceFaultInfoEXT;
  if (!ask || !context.device().flags.deviceFault) return "";
  VkDeviceFaultCountsEXT counts{};
  counts.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT;
  if (ask(context.handle(), &counts, nullptr) != VK_SUCCESS) return "";
  counts.addressInfoCount = std::min(counts.addressInfoCount, kMost);
  counts.vendorInfoCount = std::min(counts.vendorInfoCount, kMost);
  counts.vendorBinarySize = 0;
  std::vector<VkDeviceFaultAddressInfoEXT> addresses(counts.addressInfoCount);
  std::vector<VkDeviceFaultVendorInfoEXT> vendors(counts.vendorInfoCount);
  VkDeviceFaultInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT;
  info.pAddressInfos = addresses.data();
  info.pVendorInfos = vendors.data();
  const VkResult code = ask(context.handle(), &counts, &info);
  if (code != VK_SUCCESS && code != VK_INCOMPLETE) return "";
  std::vector<std::string> parts;
  const auto bounded = [](const char* text, size_t size) {
    return std::string(text, std::find(text, text + size, '\0'));
  };
  if (std::string text = bounded(info.description, sizeof info.description); !text.empty())
    parts.push_back(std::move(text));
  for (uint32_t i = 0; i < counts.addressInfoCount; ++i)
    // The driver knows the address up to a power of two.
    parts.push_back(fmt::format("{} at {:#x}, within {} bytes", name_of(addresses[i].addressType),
                                addresses[i].reportedAddress, addresses[i].addressPrecision));
  for (uint32_t i = 0; i < counts.vendorInfoCount; ++i)
    parts.push_back(fmt::format("{} (code {:#x}, data {:#x})",
                                bounded(vendors[i].description, sizeof vendors[i].description),
                                vendors[i].vendorFaultCode, vendors[i].vendorFaultData));
  return parts.empty() ? "" : fmt::format("the driver reports: {}", fmt::join(parts, ", "));
}

}  // namespace stria::vulkan
