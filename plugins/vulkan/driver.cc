// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "buffer.h"
#include "compiler.h"
#include "executor.h"
#include "measure/device_rates.h"
#include "stria/base/cache_folder.h"

namespace stria::vulkan {
namespace {

// Names of features and of extensions.
bool read_hidden(const nlohmann::json& value, std::set<std::string>& out) {
  if (!value.is_array()) return false;
  for (const nlohmann::json& name : value) {
    if (!name.is_string()) return false;
    const auto text = name.get<std::string>();
    if (!is_feature(text) && !text.starts_with("VK_")) return false;
    out.insert(text);
  }
  return true;
}

}  // namespace

VulkanDriver::VulkanDriver(const sdk::Host& host, sdk::DriverOptions options)
    : Driver(host, std::move(options)) {
  read_options(this->options().options);
  context_options_.folder = this->options().directory;
}

void VulkanDriver::read_options(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  bool good = json.is_object();
  if (good)
    for (const auto& [key, value] : json.items()) {
      if (key == "loader" && value.is_string())
        loader_ = value.get<std::string>();
      else if (key == "hang_limit_ms" && value.is_number_unsigned() && value <= UINT32_MAX)
        context_options_.hang_limit = std::chrono::milliseconds(value.get<uint32_t>());
      else if (key == "dispatch_limit_ms" && value.is_number() && value >= 0)
        context_options_.dispatch_limit_ms = value.get<double>();
      else if (key == "probe" && value.is_boolean())
        probe_ = value.get<bool>();
      else if (key == "staging" && (value == "auto" || value == "always"))
        context_options_.always_stage = value == "always";
      else if (!(key == "hide_features" && read_hidden(value, hidden_)) &&
               !(key == "inject" && sdk::read_fault_plan(value, context_options_.inject)))
        good = false;
    }
  if (!good)
    throw sdk::Error(
        STRIA_INVALID_ARGUMENT,
        "options are " + text +
            R"(, not like {"loader": "libvulkan.so.1", "hide_features": ["shaderInt8"], )" +
            R"("hang_limit_ms": 0, "dispatch_limit_ms": 500, "probe": true, "staging": "auto", )" +
            R"("inject": {"submit": 3, "then": "lose"}})");
}

VulkanDriver::~VulkanDriver() {
  bool lost = false;
  for (const auto& [id, context] : contexts_) lost = lost || context->lost();
  contexts_.clear();
  if (!instance_) return;
  if (lost)
    (void)instance_.release();  // the driver may still use it
  else
    give_instance(std::move(instance_));
}

std::vector<FoundDevice> VulkanDriver::find() {
  if (!instance_) {
    Loader loader;
    std::string reason;
    if (open_loader(loader_, loader, reason)) instance_ = take_instance(loader_, loader, reason);
    if (!instance_) return {no_device(reason)};
  }
  return find_devices(*instance_, hidden_);
}

std::vector<sdk::DeviceInfo> VulkanDriver::enumerate() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<sdk::DeviceInfo> out;
  for (FoundDevice& device : find()) {
    const auto opened = contexts_.find(device.info.id);
    const auto refused = refused_.find(device.info.id);
    std::string reason;
    if (refused != refused_.end()) reason = refused->second;
    if (opened != contexts_.end())
      if (const sdk::Outcome lost = opened->second->lost()) reason = lost->message;
    if (!reason.empty()) {
      device.info.available = false;
      device.info.reason = reason;
    }
    out.push_back(std::move(device.info));
  }
  return out;
}

sdk::DeviceInfo VulkanDriver::opened_info(sdk::DeviceInfo info, Context& context) const {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool kIsSlow = true;  // the compiler would be, so that time would run out
#else
  constexpr bool kIsSlow = false;
#endif
  // The numbers of software devices are estimates that fit any of them.
  if (!probe_.value_or(!context.device().is_software)) return info;
  const bool may_measure = probe_.value_or(!kIsSlow && context_options_.inject.submit == 0 &&
                                           context_options_.hang_limit.count() == 0);
  if (const auto rates =
          device_rates(context, context_options_.folder, user_cache_folder(), may_measure))
    info.properties = with_rates(info.properties, *rates);
  return info;
}

sdk::Ref<sdk::Device> VulkanDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto opened = contexts_.find(info.id); opened != contexts_.end()) {
    opened->second->check_not_lost();
    return sdk::make<VulkanDevice>(*opened->second, opened_[info.id]);
  }
  for (FoundDevice& device : find()) {
    if (device.info.id != info.id) continue;
    try {
      auto context =
          std::make_unique<Context>(host(), *instance_, std::move(device), context_options_);
      sdk::DeviceInfo& opened = opened_[info.id] = opened_info(info, *context);
      return sdk::make<VulkanDevice>(*(contexts_[info.id] = std::move(context)), opened);
    } catch (const sdk::Error& error) {
      // Memory may be there again; a driver that cannot make its device cannot later either.
      if (error.outcome()->code != STRIA_OUT_OF_MEMORY)
        refused_[info.id] = "its driver cannot make it: " + error.outcome()->message;
      throw;
    }
  }
  throw sdk::Error(STRIA_NOT_FOUND, "device '" + info.id + "' is gone");
}

sdk::Ref<sdk::Compiler> VulkanDevice::create_compiler() {
  return sdk::make<VulkanCompiler>(context_);
}

sdk::Ref<sdk::Executor> VulkanDevice::create_executor(std::string_view) {
  return sdk::make<VulkanExecutor>(context_);
}

sdk::Ref<sdk::Buffer> VulkanDevice::allocate(uint64_t bytes, std::string_view memory) {
  must_be_main(memory);
  return sdk::make<VulkanBuffer>(context_, bytes);
}

}  // namespace stria::vulkan
