// SPDX-License-Identifier: Apache-2.0
#include "show/device_fit.h"

#include <fmt/format.h>

#include "inputs/device_choice.h"
#include "inputs/open_device.h"
#include "message.h"
#include "stria/hal/boundary/info.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/pick/device_selector.h"

namespace stria::command {
namespace {

// Does it say which device it means?
bool is_exact(const std::string& selector) {
  const Result<DeviceSelector> parsed = parse_device_selector(selector);
  return parsed.ok() && parsed->is_pinned();
}

// `failure` is why it could not be asked, in full.
DeviceFit fit_of(const Runtime& runtime, const std::string& selector, const Compilation& program,
                 Status& failure) {
  DeviceFit out;
  out.selector = selector;
  const Result<Device> device = runtime.open(selector);
  if (device.ok()) {
    if (!is_exact(selector)) out.selector = device->info().selector;
    out.name = device->info().name;
    out.lacks = CompileDriver::lacks(*device, program);
  } else {
    failure = device.status();
    out.trouble = hal::one_line(failure.message());
  }
  return out;
}

}  // namespace

Outcome fit_devices(const std::vector<std::string>& selectors, const Compilation& program,
                    std::vector<DeviceFit>& out) {
  RuntimeOptions options = runtime_options();
  bool any = false;  // plugin may be asked for
  for (const std::string& selector : selectors) {
    STRIA_FAIL_IF(check_selector(selector));
    STRIA_OR_FAIL(const DeviceSelector parsed, ExitCode::usage, parse_device_selector(selector));
    const std::vector<std::string> plugins = parsed.plugins();
    options.only_plugins.insert(options.only_plugins.end(), plugins.begin(), plugins.end());
    any |= plugins.empty();
  }
  if (any) options.only_plugins.clear();
  const Runtime runtime(options);
  Status failure;
  if (selectors.empty()) {
    for (const hal::PluginRecord& record : Inside::records(runtime))
      for (size_t i = 0; record.status().ok() && i < record.devices.size(); ++i) {
        const std::string selector = fmt::format("{}:{}", record.id, i);
        out.push_back(fit_of(runtime, selector, program, failure));
        out.back().name = record.devices[i].name;
      }
  } else {
    for (const std::string& selector : selectors) {
      out.push_back(fit_of(runtime, selector, program, failure));
      if (!out.back().trouble.empty()) break;
    }
  }
  if (Status ended = runtime.shutdown(); !ended.ok()) print_message(ended.message());
  if (!selectors.empty() && !out.back().trouble.empty()) return Outcome(ExitCode::device, failure);
  return Outcome();
}

}  // namespace stria::command
