// SPDX-License-Identifier: Apache-2.0
#include "loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <vector>

namespace stria::vulkan {
namespace {

constexpr const char* kInstall =
    "install libvulkan1 and the Vulkan driver of the device (mesa-vulkan-drivers has one that runs "
    "on the CPU)";

// Those of the variables that are set.
std::string variables_set(std::initializer_list<const char*> names) {
  std::string out;
  for (const char* name : names)
    if (const char* value = ::secure_getenv(name))
      out += (out.empty() ? "" : ", ") + (std::string(name) + "=" + value);
  return out;
}

// The variables that choose among the drivers: the commonest reason why there is none.
std::string driver_variables() {
  return variables_set({"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
                        "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE",
                        "VK_LOADER_DEVICE_SELECT"});
}
std::string layer_variables() {
  return variables_set({"VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH",
                        "VK_LAYER_SETTINGS_PATH", "VK_LOADER_LAYERS_ENABLE",
                        "VK_LOADER_LAYERS_DISABLE"});
}

// Instances that nobody uses. Never destroyed, as they are not.
struct IdleInstances {
  std::mutex mutex;
  std::vector<std::unique_ptr<Instance>> all;  // guarded by mutex
};
IdleInstances& idle_instances() {
  static IdleInstances* const idle = new IdleInstances;
  return *idle;
}

bool has_extension(const Loader& loader, const char* name) {
  uint32_t count = 0;
  if (loader.vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr) != VK_SUCCESS)
    return false;
  std::vector<VkExtensionProperties> all(count);
  const VkResult code = loader.vkEnumerateInstanceExtensionProperties(nullptr, &count, all.data());
  if (code != VK_SUCCESS && code != VK_INCOMPLETE) return false;
  all.resize(count);
  for (const VkExtensionProperties& extension : all)
    if (std::strcmp(extension.extensionName, name) == 0) return true;
  return false;
}

// False, with the reason, if the loader makes none.
bool create_instance(const Loader& loader, Instance& out, std::string& reason) {
  static_cast<Loader&>(out) = loader;
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "stria";
  application.pEngineName = "stria";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  // Drivers that miss a few features of graphics are listed only if asked for.
  const char* extensions[] = {VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME};
  if (has_extension(loader, extensions[0])) {
    info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = extensions;
  }
  const VkResult code = loader.vkCreateInstance(&info, nullptr, &out.handle);
  if (code != VK_SUCCESS) {
    out.handle = nullptr;
    const std::string variables = driver_variables();
    const std::string set = variables.empty() ? "" : " (set: " + variables + ")";
    reason = code == VK_ERROR_INCOMPATIBLE_DRIVER
                 ? "the Vulkan loader finds no driver" + set + "; " + kInstall
                 : "vkCreateInstance: " + name_of_code(code) + set;
    return false;
  }
#define STRIA_VK_INSTANCE_IF(function) \
  out.function =                       \
      reinterpret_cast<PFN_##function>(loader.vkGetInstanceProcAddr(out.handle, #function));
#define STRIA_VK_INSTANCE(function)                                                          \
  out.function =                                                                             \
      reinterpret_cast<PFN_##function>(loader.vkGetInstanceProcAddr(out.handle, #function)); \
  if (!out.function) {                                                                       \
    reason = "the Vulkan loader has no function " #function;                                 \
    return false;                                                                            \
  }
#include "entry_points.def"
  return true;
}

}  // namespace

bool open_loader(const std::string& library, Loader& out, std::string& reason) {
  // Local: two drivers in one process may bring different versions of the same library.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    reason = std::string("the Vulkan loader cannot be opened (") + (why ? why : "unknown reason") +
             "); " + kInstall;
    return false;
  }
  out.vkGetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(::dlsym(handle, "vkGetInstanceProcAddr"));
  if (!out.vkGetInstanceProcAddr) {
    reason = library + " has no function vkGetInstanceProcAddr: it is no Vulkan loader";
    return false;
  }
#define STRIA_VK_LOADER(function)                                                                 \
  out.function = reinterpret_cast<PFN_##function>(out.vkGetInstanceProcAddr(nullptr, #function)); \
  if (!out.function) {                                                                            \
    reason = library + " has no function " #function ": it is older than Vulkan 1.2";             \
    return false;                                                                                 \
  }
#include "entry_points.def"
  uint32_t version = 0;
  if (out.vkEnumerateInstanceVersion(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2) {
    reason = library + " has Vulkan " + version_text(version) + "; 1.2 is needed";
    return false;
  }
  return true;
}

std::unique_ptr<Instance> take_instance(const std::string& library, const Loader& loader,
                                        std::string& reason) {
  const std::string origin = library + "; " + driver_variables() + "; " + layer_variables();
  {
    std::lock_guard<std::mutex> lock(idle_instances().mutex);
    auto& all = idle_instances().all;
    for (auto at = all.begin(); at != all.end(); ++at)
      if ((*at)->origin == origin) {
        std::unique_ptr<Instance> out = std::move(*at);
        all.erase(at);
        return out;
      }
  }
  auto out = std::make_unique<Instance>();
  out->origin = origin;
  if (!create_instance(loader, *out, reason)) return nullptr;
  return out;
}

void give_instance(std::unique_ptr<Instance> instance) {
  std::lock_guard<std::mutex> lock(idle_instances().mutex);
  idle_instances().all.push_back(std::move(instance));
}

bool load_device(const Instance& instance, VkDevice device, uint32_t api_version,
                 DeviceFunctions& out, std::string& missing) {
#define STRIA_VK_DEVICE_IF(function) \
  out.function = reinterpret_cast<PFN_##function>(instance.vkGetDeviceProcAddr(device, #function));
#define STRIA_VK_DEVICE_NAMED(function, name)                                                  \
  out.function = reinterpret_cast<PFN_##function>(instance.vkGetDeviceProcAddr(device, name)); \
  if (!out.function) {                                                                         \
    missing = name;                                                                            \
    return false;                                                                              \
  }
#define STRIA_VK_DEVICE(function) STRIA_VK_DEVICE_NAMED(function, #function)
#define STRIA_VK_DEVICE_KHR(function)                                                   \
  {                                                                                     \
    const char* name = api_version >= VK_API_VERSION_1_3 ? #function : #function "KHR"; \
    STRIA_VK_DEVICE_NAMED(function, name)                                               \
  }
#include "entry_points.def"
#undef STRIA_VK_DEVICE_NAMED
  return true;
}

std::string version_text(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

std::string name_of_code(VkResult code) {
  switch (code) {
#define STRIA_CODE(name) \
  case name: return #name;
    STRIA_CODE(VK_SUCCESS)
    STRIA_CODE(VK_NOT_READY)
    STRIA_CODE(VK_TIMEOUT)
    STRIA_CODE(VK_INCOMPLETE)
    STRIA_CODE(VK_ERROR_OUT_OF_HOST_MEMORY)
    STRIA_CODE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    STRIA_CODE(VK_ERROR_INITIALIZATION_FAILED)
    STRIA_CODE(VK_ERROR_DEVICE_LOST)
    STRIA_CODE(VK_ERROR_MEMORY_MAP_FAILED)
    STRIA_CODE(VK_ERROR_LAYER_NOT_PRESENT)
    STRIA_CODE(VK_ERROR_EXTENSION_NOT_PRESENT)
    STRIA_CODE(VK_ERROR_FEATURE_NOT_PRESENT)
    STRIA_CODE(VK_ERROR_INCOMPATIBLE_DRIVER)
    STRIA_CODE(VK_ERROR_TOO_MANY_OBJECTS)
    STRIA_CODE(VK_ERROR_FRAGMENTED_POOL)
    STRIA_CODE(VK_ERROR_UNKNOWN)
    STRIA_CODE(VK_ERROR_OUT_OF_POOL_MEMORY)
    STRIA_CODE(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    STRIA_CODE(VK_ERROR_FRAGMENTATION)
    STRIA_CODE(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    STRIA_CODE(VK_ERROR_VALIDATION_FAILED_EXT)
    STRIA_CODE(VK_ERROR_INVALID_SHADER_NV)
    STRIA_CODE(VK_ERROR_NOT_PERMITTED_KHR)
#undef STRIA_CODE
    default: return "VkResult " + std::to_string(static_cast<int>(code));
  }
}

sdk::Failure failure_of(VkResult code, std::string_view what, std::string_view device) {
  sdk::Failure out;
  switch (code) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS: out.code = STRIA_OUT_OF_MEMORY; break;
    case VK_ERROR_DEVICE_LOST: out.code = STRIA_DEVICE_LOST; break;
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_INCOMPATIBLE_DRIVER: out.code = STRIA_UNAVAILABLE; break;
    default: out.code = STRIA_INTERNAL;
  }
  out.native_code = code;
  out.native_message = name_of_code(code);
  out.message = std::string(what) + " on '" + std::string(device) + "': " + out.native_message;
  return out;
}

}  // namespace stria::vulkan
