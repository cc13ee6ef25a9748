// SPDX-License-Identifier: Apache-2.0
#include "verbs/run_several.h"

#include "inputs/device_choice.h"
#include "inputs/open_device.h"
#include "message.h"
#include "progress.h"
#include "result_memory.h"
#include "stria/runtime/inside.h"
#include "stria/several/device_list.h"
#include "stria/several/split_state.h"

namespace stria::command {

Outcome check_devices(const RunOptions& options) {
  const std::pair<const char*, bool> others[] = {
      {"--profile", options.profile},
      {"--check-kernels", !options.check_kernels.empty()},
      {"--tune", options.tune > 0},
      {"--set", !options.settings.empty()}};
  for (const auto& [name, given] : others)
    if (given)
      return Outcome(
          ExitCode::usage,
          invalid_argument("{} is for one device: give --device instead of --devices", name));
  STRIA_OR_FAIL(const std::vector<std::string> selectors, ExitCode::usage,
                split_device_list(options.devices));
  for (const std::string& one : selectors) STRIA_FAIL_IF(check_selector(one, true));
  return Outcome();
}

Outcome run_on_several(const RunOptions& options, const Program& program, Compilation generic,
                       const CompileOptions& how, const std::vector<HostTensor>& inputs,
                       SeveralResults& results) {
  const tile::BoundProgram bound = generic.bound;
  SplitRunnerOptions runs;
  runs.split.compile = how;
  Outcome too_large;
  const auto opened = [&](const Device& device) -> Status {
    take_device(device);
    for (const DataType type : {DataType::fp32, DataType::fp64})
      if (Inside::model(device).flushed_subnormals.contains(type)) results.flushed.add(type);
    too_large = check_result_memory(program, bound, device);
    return too_large.status();
  };
  const Runtime runtime =
      runtime_for_devices(options.devices, options.time_limit_s, options.threads);
  STRIA_OR_FAIL(const SplitRunner runner, ExitCode::device,
                SplitInside::runner(runtime, options.devices, std::move(generic), runs, opened));
  Progress progress("running on " + options.devices);
  const Result<std::string> shared_out = runner.prepare();
  STRIA_FAIL_IF(too_large);
  if (!shared_out.ok())
    return Outcome(shared_out.status().code() == StatusCode::unsupported ? ExitCode::program
                                                                         : ExitCode::device,
                   shared_out.status());
  print_message(*shared_out);
  STRIA_OR_FAIL(SplitResult ran, ExitCode::device, runner.run(inputs));
  results.outputs = std::move(ran.outputs);
  return Outcome();
}

}  // namespace stria::command
