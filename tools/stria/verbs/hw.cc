// SPDX-License-Identifier: Apache-2.0
#include "verbs/hw.h"

#include <cstdio>

#include "inputs/open_device.h"
#include "inputs/template_settings.h"
#include "message.h"
#include "stria/base/text.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/unlikely_numbers.h"
#include "stria/runtime/inside.h"
#include "stria/template/template_parameters.h"

namespace stria::command {
namespace {

// What the command line asks for: the model in a file, with what a device reports if there is one,
// or the device's own.
// `parameters` are those of the file, or of the device's pipeline, as text; `device_bytes` is what
// the device says that it has.
Outcome read_model(const HwOptions& options, HardwareModel& model, std::string& parameters,
                   uint64_t& device_bytes) {
  TemplateSettings settings;
  STRIA_FAIL_IF(parse_settings(options.settings, settings));
  if (options.model.empty() && options.device.empty())
    return Outcome(ExitCode::usage, invalid_argument("hw needs a MODEL or --device"));
  const auto describe = [&](const std::string& name, const std::vector<TemplateParameter>& all) {
    if (!all.empty())
      parameters =
          fmt::format("\nparameters of '{}' (--set NAME=VALUE): name, default, legal values\n{}",
                      name, describe_parameters(all));
  };
  SourceText file;
  if (!options.model.empty()) {
    STRIA_OR_FAIL(file, ExitCode::program, read_source(options.model, kMaxJsonBytes));
    STRIA_OR_FAIL(const std::vector<TemplateParameter> all, ExitCode::program,
                  declared_parameters(file));
    describe(file.name, all);
  }
  STRIA_FAIL_IF(check_settings(settings, {file}, "a MODEL"));
  std::string properties;
  if (!options.device.empty()) {
    Device device;
    STRIA_FAIL_IF(open_device(options.device, device));
    device_bytes = Inside::hal_device(device).info().memory_bytes;
    if (options.model.empty()) {
      model = Inside::model(device);
      STRIA_OR_FAIL(const std::vector<TemplateParameter> all, ExitCode::device,
                    Inside::parameters(device));
      describe(Inside::pipeline_name(device), all);
      return Outcome();
    }
    properties = Inside::hal_device(device).info().properties;
  }
  STRIA_OR_FAIL(model, ExitCode::program, load_hardware_model(file, settings, properties));
  return Outcome();
}

}  // namespace

Outcome hw(const HwOptions& options) {
  HardwareModel model;
  std::string parameters;
  uint64_t device_bytes = 0;
  STRIA_FAIL_IF(read_model(options, model, parameters, device_bytes));
  for (const UnlikelyNumber& number : unlikely_numbers(model, device_bytes))
    print_message("warning: " + number.text(model));
  if (options.require_sources) {
    if (const std::vector<std::string> missing = model.numbers_without_source(); !missing.empty())
      return Outcome(ExitCode::program,
                     invalid_argument("{} of the model's numbers {} no source: {}", missing.size(),
                                      missing.size() == 1 ? "has" : "have", join(missing, ", ")));
  }
  if (options.calibration) {
    std::fputs(model.explain_calibration().c_str(), stdout);
    return Outcome();
  }
  std::fputs((options.json ? model.to_string() : model.explain() + parameters).c_str(), stdout);
  return Outcome();
}

}  // namespace stria::command
