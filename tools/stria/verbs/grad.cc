// SPDX-License-Identifier: Apache-2.0
#include "verbs/grad.h"

#include <cstdio>

#include "inputs/onnx_inputs.h"
#include "inputs/program_inputs.h"
#include "message.h"
#include "stria/runtime/program.h"

namespace stria::command {

Outcome grad(const GradOptions& options) {
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  if (!is_onnx(options.file) && (!given.sources.empty() || !given.shapes.empty()))
    return Outcome(ExitCode::usage,
                   invalid_argument("--input and --shape say what an .onnx file leaves open: a "
                                    "derivative of Tile serves every size"));
  Program program;
  ReadInputs in;
  STRIA_FAIL_IF(read_program(options.file, is_onnx(options.file) ? options.function : "", given,
                             Wanted::sizes, program, in));
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
