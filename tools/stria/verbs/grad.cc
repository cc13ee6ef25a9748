// SPDX-License-Identifier: Apache-2.0
#include "verbs/grad.h"

#include <cstdio>

#include "message.h"
#include "stria/runtime/program.h"

namespace stria::command {

Outcome grad(const GradOptions& options) {
  STRIA_OR_FAIL(Program program, ExitCode::program, Program::read(options.file));
  Result<Program> made = program.gradient(
      {options.function, options.wrt, options.of, options.keep_results, options.name});
  if (!made.ok())
    return Outcome(
        made.status().code() == StatusCode::not_found ? ExitCode::usage : ExitCode::program,
        made.status());
  for (const std::string& note : made->notes()) print_diagnostics(note);
  std::fputs(made->text().c_str(), stdout);
  return Outcome();
}

}  // namespace stria::command
