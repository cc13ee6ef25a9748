// SPDX-License-Identifier: Apache-2.0
// The command line: its grammar, help and version texts.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "compile.h"
#include "devices.h"
#include "doctor.h"
#include "fmt.h"
#include "grad.h"
#include "hw.h"
#include "opt.h"
#include "reduce.h"
#include "run.h"
#include "sim.h"

namespace stria::command {

using Verb = std::variant<DevicesOptions, DoctorOptions, RunOptions, CompileOptionsText, OptOptions,
                          HwOptions, FmtOptions, GradOptions, ReduceOptions, SimOptions>;

struct CommandLine {
  std::optional<Verb> verb;
  // Without a verb: what to print and where, and how to end.
  std::string text;
  bool to_stdout = false;
  ExitCode code = ExitCode::success;
};

// Never prints or exits.
CommandLine parse_command_line(int count, const char* const* arguments);

}  // namespace stria::command
