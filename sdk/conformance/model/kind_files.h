// SPDX-License-Identifier: Apache-2.0
// The model and the pipeline of one kind of device, read as the product reads them.
#pragma once

#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/template/template_parameters.h"
#include "suite/subject.h"

namespace stria::conformance {

// As the file has it, without any device.
Result<HardwareModel> model_of(const Subject& subject, const std::string& kind);
// Completed by what the open device reports. Nothing if that device is of another kind.
Result<std::optional<HardwareModel>> reported_model(Subject& subject, const std::string& kind);
// The pipeline with its fragments, for that model.
Result<Pipeline> pipeline_of(const Subject& subject, const std::string& kind,
                             const HardwareModel& model, const TemplateSettings& settings = {});
// What may be set in it.
Result<std::vector<TemplateParameter>> parameters_of(const Subject& subject,
                                                     const std::string& kind);

}  // namespace stria::conformance
