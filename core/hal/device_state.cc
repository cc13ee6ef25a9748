// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/device_state.h"

#include <unistd.h>

#include <mutex>
#include <vector>

namespace stria::hal {
namespace {

// A driver that was not shut down may still run: its code, its host and the driver itself stay
// until the process ends, and no exit handler touches them.
void keep_for_ever(std::shared_ptr<void> library, std::shared_ptr<Services> services,
                   stria_driver* driver) {
  struct Kept {
    std::mutex mutex;
    std::vector<std::shared_ptr<void>> objects;
    std::vector<stria_driver*> drivers;
  };
  static Kept* kept = new Kept;
  std::lock_guard lock(kept->mutex);
  kept->objects.push_back(std::move(library));
  if (services) kept->objects.push_back(std::move(services));
  if (driver) kept->drivers.push_back(driver);
}

}  // namespace

std::string_view name_of(Noun noun) {
  constexpr std::array<std::string_view, kNounCount> names = {
      "device", "compiler", "library", "kernel", "executor", "buffer", "event"};
  return names[static_cast<size_t>(noun)];
}

PluginState::~PluginState() {
  if (driver)
    keep_for_ever(library, services, driver);
  else if (library && !manifest.unloadable)
    keep_for_ever(library, nullptr, nullptr);
}

Status PluginState::thrown(std::string_view slot) const {
  Status status = make_error(kPluginFault, "plugin {}: {}: an exception came out of the plugin",
                             manifest.id, slot);
  services->log(LogLevel::error, status.message());
  return status;
}

Status PluginState::failed(std::string_view slot, stria_error* error) const {
  const std::string missing = why_missing(error, table_sizes);
  const Status status = take_error(error, reader);
  if (missing.empty()) return in_slot(slot, status);
  return in_slot(slot, Status(status.code(), fmt::format("{}: {}", status.message(), missing)));
}

Status PluginState::in_slot(std::string_view slot, const Status& status) const {
  return status.with_context(fmt::format("plugin {}: {}", manifest.id, slot));
}

Status PluginState::gave_nothing(std::string_view slot) const {
  return make_error(kPluginFault, "plugin {}: {} succeeded but gave no result", manifest.id, slot);
}

Status PluginState::after_wait(std::string_view what, uint64_t timeout_ns, Status waited,
                               std::string_view reason) const {
  const uint64_t limit = services->host().wait_limit_ns();
  if (waited.code() != StatusCode::deadline_exceeded || limit >= timeout_ns) return waited;
  return make_error(StatusCode::deadline_exceeded,
                    "plugin {}: {} is not done after {:g} s, the wait limit: {}", manifest.id, what,
                    static_cast<double>(limit) * 1e-9, reason);
}

Status PluginState::usable() const {
  if (shut_down || !driver)
    return make_error(StatusCode::failed_precondition, "plugin {} has been shut down", manifest.id);
  if (::getpid() != process)
    return make_error(StatusCode::failed_precondition,
                      "plugin {} was loaded by process {} and cannot be used in its child",
                      manifest.id, process);
  return Status();
}

DeviceState::DeviceState(std::shared_ptr<PluginState> owner, stria_device* device)
    : plugin(std::move(owner)), handle(device) {
  plugin->count(Noun::device);
}

DeviceState::~DeviceState() {
  plugin->release(Noun::device, "device.release", tables().device.release, handle);
}

}  // namespace stria::hal
