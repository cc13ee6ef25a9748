// SPDX-License-Identifier: Apache-2.0
// The command line: its grammar, help and version texts.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "audience.h"
#include "verbs/calibrate.h"
#include "verbs/compile.h"
#include "verbs/conform.h"
#include "verbs/devices.h"
#include "verbs/doctor.h"
#include "verbs/fmt.h"
#include "verbs/grad.h"
#include "verbs/hw.h"
#include "verbs/new_plugin.h"
#include "verbs/ops.h"
#include "verbs/opt.h"
#include "verbs/pick.h"
#include "verbs/reduce.h"
#include "verbs/run.h"
#include "verbs/show.h"
#include "verbs/sim.h"

namespace stria::command {

using Verb =
    std::variant<DevicesOptions, DoctorOptions, RunOptions, CompileOptionsText, OptOptions,
                 HwOptions, FmtOptions, GradOptions, ReduceOptions, SimOptions, ShowOptions,
                 PickVerb, OpsOptions, NewPluginOptions, ConformOptions, CalibrateCommand>;

struct CommandLine {
  std::optional<Verb> verb;
  Audience audience;
  // Without a verb: what to print and where, and how to end.
  std::string text;
  bool to_stdout = false;
  ExitCode code = ExitCode::success;
};

// Never prints or exits.
CommandLine parse_command_line(int count, const char* const* arguments);

}  // namespace stria::command
