// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "buffer.h"
#include "compiler.h"
#include "executor.h"

namespace stria::opencl {

ClDriver::ClDriver(const sdk::Host& host, sdk::DriverOptions options)
    : Driver(host, std::move(options)) {
  const std::string& text = this->options().options;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  bool good = json.is_object();
  if (good)
    for (const auto& [key, value] : json.items()) {
      if (key == "loader" && value.is_string())
        loader_ = value.get<std::string>();
      else if (key == "in_order" && value.is_boolean())
        context_options_.in_order = value.get<bool>();
      else if (key == "shared_context" && value.is_boolean())
        shares_contexts_ = value.get<bool>();
      else if (key == "build_parts" && value.is_number_unsigned() && value > 0 &&
               value <= UINT32_MAX)
        context_options_.build_parts = value.get<uint32_t>();
      else if (key == "event_each" && value.is_boolean())
        context_options_.event_each = value.get<bool>();
      else if (key == "hang_limit_ms" && value.is_number_unsigned() && value <= UINT32_MAX)
        context_options_.hang_limit = std::chrono::milliseconds(value.get<uint32_t>());
      else if (!(key == "inject" && sdk::read_fault_plan(value, context_options_.inject)))
        good = false;
    }
  if (!good)
    throw sdk::Error(STRIA_INVALID_ARGUMENT,
                     "options are " + text +
                         R"(, not like {"loader": "libOpenCL.so.1", "in_order": false, )" +
                         R"("shared_context": false, )" +
                         R"("build_parts": 1, "event_each": false, "hang_limit_ms": 0, )" +
                         R"("inject": {"submit": 3, "then": "lose"}})");
}

std::vector<FoundDevice> ClDriver::find() {
  if (!cl_) {
    auto opened = std::make_unique<OpenCl>();
    std::string reason;
    if (!open_loader(loader_, *opened, reason)) return {no_device(reason)};
    cl_ = std::move(opened);
  }
  return find_devices(*cl_);
}

std::vector<sdk::DeviceInfo> ClDriver::enumerate() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<sdk::DeviceInfo> out;
  for (FoundDevice& device : find()) {
    const auto opened = contexts_.find(device.info.id);
    if (opened != contexts_.end() && opened->second)
      if (const sdk::Outcome lost = opened->second->lost()) {
        device.info.available = false;
        device.info.reason = lost->message;
      }
    out.push_back(std::move(device.info));
  }
  return out;
}

sdk::Ref<sdk::Device> ClDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Context>& context = contexts_[info.id];
  if (context) context->check_not_lost();
  if (!context) {
    std::vector<FoundDevice> all = find();
    for (FoundDevice& device : all)
      if (device.info.id == info.id) {
        const cl_context shared = shared_context(all, device);
        context =
            std::make_unique<Context>(host(), *cl_, std::move(device), context_options_, shared);
      }
  }
  if (!context) throw sdk::Error(STRIA_NOT_FOUND, "device '" + info.id + "' is gone");
  return sdk::make<ClDevice>(*context, info);
}

cl_context ClDriver::shared_context(const std::vector<FoundDevice>& all,
                                    const FoundDevice& device) {
  if (!shares_contexts_) return nullptr;
  cl_context& context = shared_[device.platform];
  if (context) return context;
  std::vector<cl_device_id> handles;
  for (const FoundDevice& one : all)
    if (one.platform == device.platform && one.info.available) handles.push_back(one.handle);
  cl_int code = CL_SUCCESS;
  context = cl_->clCreateContext(nullptr, static_cast<cl_uint>(handles.size()), handles.data(),
                                 nullptr, nullptr, &code);
  check(code, "clCreateContext of " + std::to_string(handles.size()) + " devices",
        device.info.name);
  return context;
}

ClDriver::~ClDriver() {
  bool any_lost = false;  // what a driver whose device hangs does not come back from
  for (const auto& [id, context] : contexts_) any_lost = any_lost || (context && context->lost());
  contexts_.clear();
  for (const auto& [platform, context] : shared_)
    if (context && !any_lost) cl_->clReleaseContext(context);
}

ClDevice::ClDevice(Context& context, sdk::DeviceInfo info)
    : Device(context.host(), info),
      context_(context),
      budget_(sdk::make<sdk::MemoryBudget>(info.memory_bytes)) {}

sdk::Ref<sdk::Compiler> ClDevice::create_compiler() { return sdk::make<ClCompiler>(context_); }

sdk::Ref<sdk::Executor> ClDevice::create_executor(std::string_view) {
  return sdk::make<ClExecutor>(context_);
}

bool ClDevice::reaches(const sdk::Device& peer) const {
  return static_cast<const ClDevice&>(peer).context_.handle() == context_.handle();
}

sdk::Ref<sdk::Buffer> ClDevice::allocate(uint64_t bytes, std::string_view memory) {
  must_be_main(memory);
  return sdk::make<ClBuffer>(context_, budget_, bytes);
}

}  // namespace stria::opencl
