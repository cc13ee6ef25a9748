// SPDX-License-Identifier: Apache-2.0
#include "inputs/pipeline_file.h"

#include "inputs/template_settings.h"
#include "message.h"
#include "stria/base/file.h"
#include "stria/passes/all_passes.h"

namespace stria::command {

Result<PipelineSource> read_pipeline(const std::string& path) {
  STRIA_ASSIGN(SourceText text, read_source(path, kMaxJsonBytes));
  return PipelineSource(std::move(text), fragments_beside(path, kMaxJsonBytes));
}

Outcome parse_pipeline(const PipelineSource& source, const TemplateSettings& settings,
                       const HardwareModel& model, Pipeline& pipeline) {
  STRIA_OR_FAIL(pipeline, ExitCode::program,
                stria::parse_pipeline(source, settings, model, passes::pass_registry()));
  for (const std::string& note : pipeline.notes) print_message(note);
  return Outcome();
}

}  // namespace stria::command
