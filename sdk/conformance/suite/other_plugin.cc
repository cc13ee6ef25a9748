// SPDX-License-Identifier: Apache-2.0
#include "suite/other_plugin.h"

#include <dlfcn.h>

#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/received.h"
#include "suite/case.h"

namespace stria::conformance {

OtherPlugin::~OtherPlugin() {
  device_.reset();
  driver_.reset();
  // The object stays: nothing says that it may go.
}

Status OtherPlugin::load() {
  if (object_) return Status();
  manifest_ = hal::read_manifest(directory_);
  STRIA_RETURN_IF_ERROR(manifest_.status());
  const std::filesystem::path library = directory_ / manifest_->library;
  object_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object_)
    return broken("'{}' cannot be loaded: {}", library.string(), hal::one_line(::dlerror()));
  const auto query =
      reinterpret_cast<stria_plugin_query_function>(::dlsym(object_, "stria_plugin_query"));
  if (!query) return broken("'{}' has no symbol stria_plugin_query", library.string());
  const HostSays host;
  stria_plugin_info info{};
  info.size = sizeof info;
  STRIA_RETURN_IF_ERROR(hal::take_error(query(&host.info, &info), hal::Reader::author)
                            .with_context("stria_plugin_query"));
  tables_ = hal::normalise(info);
  return Status();
}

Status OtherPlugin::begin() {
  if (driver_) return Status();
  STRIA_RETURN_IF_ERROR(load());
  host_ = std::make_unique<TestHost>();
  const std::string directory = directory_.string();
  stria_driver_options options{};
  options.size = sizeof options;
  options.directory = hal::to_c(directory);
  options.options = hal::to_c("{}");
  options.services = &host_->services();
  stria_driver* raw = nullptr;
  STRIA_RETURN_IF_ERROR(
      Subject::failure(Slot::driver_create, tables_.driver.create(&options, &raw)));
  driver_ = Driver(raw, tables_.driver.shutdown);
  return Status();
}

Status OtherPlugin::open() {
  if (device_) return Status();
  STRIA_RETURN_IF_ERROR(begin());
  hal::Received<hal::DeviceInfo> list;
  STRIA_RETURN_IF_ERROR(Subject::failure(
      Slot::driver_enumerate,
      tables_.driver.enumerate(driver_.get(), hal::Received<hal::DeviceInfo>::sink, &list)));
  STRIA_RETURN_IF_ERROR(list.fault);
  for (const hal::DeviceInfo& info : list.items) {
    if (device_id_.empty() ? !info.available : info.id != device_id_) continue;
    stria_device* raw = nullptr;
    STRIA_RETURN_IF_ERROR(Subject::failure(
        Slot::driver_open,
        tables_.driver.open(driver_.get(), hal::to_c(info.id), hal::to_c("{}"), &raw)));
    device_ = Device(raw, tables_.device.release);
    info_ = info;
    break;
  }
  return Status();
}

Status OtherPlugin::work(uint32_t seed) {
  STRIA_RETURN_IF_ERROR(open());
  if (!device_) return Status();
  const DeviceWork work(tables_, device_.get());
  STRIA_RETURN_IF_ERROR(work_round(work, seed));
  if (!program_) {
    auto program = SmallProgram::compile(work, info_, *manifest_, directory_);
    if (program.status().code() == StatusCode::unsupported) return Status();
    STRIA_RETURN_IF_ERROR(program.status());
    program_ = std::move(*program);
  }
  return program_round(work, *program_, seed);
}

Status OtherPlugin::end() {
  device_.reset();
  driver_.reset();
  if (!host_) return Status();
  const std::string taken = host_->taken(2000);
  host_.reset();
  return taken.empty() ? Status()
                       : broken("after driver.shutdown it holds {} of the host's", taken);
}

Status OtherPlugin::unload() {
  STRIA_RETURN_IF_ERROR(end());
  if (::dlclose(std::exchange(object_, nullptr)) != 0)
    return broken("dlclose fails: {}", hal::one_line(::dlerror()));
  if (void* still = ::dlopen((directory_ / manifest_->library).c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    ::dlclose(still);
    return broken(
        "after a shutdown and dlclose it is still loaded: a thread_local with a "
        "destructor, a unique symbol or the flag nodelete keeps it");
  }
  return Status();
}

}  // namespace stria::conformance
