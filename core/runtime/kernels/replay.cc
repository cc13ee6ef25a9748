// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/kernels/replay.h"

#include "stria/pass/model_rules.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/plugin_pass.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria {

Result<Replay> Replay::prepare(const SourceText& file, Reproducer reproducer,
                               std::optional<Device> device) {
  if (reproducer.needs_device() && !device)
    return invalid_argument("{}: needs the device '{}'", file.name, reproducer.device);
  Replay out;
  STRIA_ASSIGN(out.model_, load_hardware_model({file.name + ": /hw", reproducer.hw}));
  PassRegistry passes = passes::pass_registry();
  if (device) passes.passes.push_back(make_plugin_pass(Inside::hal_device(*device)));
  STRIA_ASSIGN(out.pipeline_, parse_pipeline({file.name + ": /pipeline", reproducer.pipeline}, {},
                                             out.model_, passes));
  out.pipeline_.source = file.name;
  // A reproducer has its steps in one line: their names say more than columns of that.
  for (PipelineStep& step : out.pipeline_.steps) step.file = nullptr;
  STRIA_ASSIGN(out.program_, stripe::parse(file));
  out.reproducer_ = std::move(reproducer);
  out.device_ = std::move(device);
  return out;
}

Status Replay::verify() const {
  STRIA_ASSIGN(const ModelRules rules, ModelRules::of(model_));
  return stripe::verify(program_, rules.options(&intrinsic_signatures()));
}

Status Replay::run() const {
  PipelineOptions how;
  how.verify_each = reproducer_.verify_each;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  stripe::Program program = program_;
  STRIA_RETURN_IF_ERROR(run_pipeline(program, pipeline_, model_, how).status());
  if (!reproducer_.build) return Status();
  return CompileDriver::build(
             *device_, program, stripe::print(program),
             {.fast_math = reproducer_.fast_math, .no_peepholes = reproducer_.no_peepholes})
      .status();
}

}  // namespace stria
