// SPDX-License-Identifier: Apache-2.0
// The pipeline file of a command line.
#pragma once

#include <string>

#include "failure.h"
#include "stria/pass/pipeline.h"

namespace stria::command {

// Reads the file; the fragments that it includes lie beside it.
Result<PipelineSource> read_pipeline(const std::string& path);

// Parses it with core's passes and fragments, and prints what a reader of the pipeline should know.
Outcome parse_pipeline(const PipelineSource& source, const TemplateSettings& settings,
                       const HardwareModel& model, Pipeline& pipeline);

}  // namespace stria::command
