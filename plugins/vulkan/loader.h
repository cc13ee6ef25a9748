// SPDX-License-Identifier: Apache-2.0
// The Vulkan loader (libvulkan.so.1), opened when it is first needed: on a machine without it no
// device is listed, and nothing breaks. The functions of the loader, of an instance and of a
// device.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cooperative_matrix.h"
#include "stria/sdk/error.h"

namespace stria::vulkan {

// Never closed: drivers behind it start threads and cannot leave.
struct Loader {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
#define STRIA_VK_LOADER(function) PFN_##function function = nullptr;
#include "entry_points.def"
};

struct Instance : Loader {
  VkInstance handle = nullptr;
  std::string origin;  // the library, and the variables that were set
#define STRIA_VK_INSTANCE(function) PFN_##function function = nullptr;
#define STRIA_VK_INSTANCE_IF(function) PFN_##function function = nullptr;
#include "entry_points.def"
};

struct DeviceFunctions {
#define STRIA_VK_DEVICE(function) PFN_##function function = nullptr;
#define STRIA_VK_DEVICE_KHR(function) PFN_##function function = nullptr;
#define STRIA_VK_DEVICE_IF(function) PFN_##function function = nullptr;
#include "entry_points.def"
};

// Opens `library` (a file name for the dynamic loader). False, with the reason and what to install,
// if it is not there, lacks a function or is too old.
bool open_loader(const std::string& library, Loader& out, std::string& reason);

// An instance of `loader`, which `library` was opened for. Null, with the reason, if there is no
// driver or none that works. An instance is never destroyed, for with it the drivers would be
// unloaded, whose threads cannot leave: one that was given back comes again, if the variables that
// choose drivers and layers are as they were.
std::unique_ptr<Instance> take_instance(const std::string& library, const Loader& loader,
                                        std::string& reason);
// Precondition: its devices are destroyed. One with a lost device is never given back.
void give_instance(std::unique_ptr<Instance> instance);

// False, with the name of the function that is not there. `api_version` is the device's.
bool load_device(const Instance& instance, VkDevice device, uint32_t api_version,
                 DeviceFunctions& out, std::string& missing);

// "1.3.230".
std::string version_text(uint32_t version);
// "VK_ERROR_DEVICE_LOST", or the number.
std::string name_of_code(VkResult code);
// What failed with `code`, in our terms: "vkCreateDevice on 'NVIDIA H200': VK_ERROR_…".
sdk::Failure failure_of(VkResult code, std::string_view what, std::string_view device);

}  // namespace stria::vulkan
