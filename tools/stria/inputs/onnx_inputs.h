// SPDX-License-Identifier: Apache-2.0
// A program from an ONNX file: sizes and values come from --input and --shape, as far as the model
// leaves them open.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "inputs/named_values.h"
#include "inputs/program_inputs.h"

namespace stria::command {

bool is_onnx(const std::string& path);

// read_program for such a file. Reads the model and those inputs that --input gives, and makes the
// program. An input whose elements decide sizes is bound by value if --input gives it. `in` gets
// the others, in the order of the program's inputs; its tensors unless only sizes are wanted.
// --shape also takes the name of an open dimension. ExitCode::usage, with the nearest right name,
// for a name that the model does not have; all inputs that miss something are told at once. `given`
// gets sources from its folder.
Outcome read_onnx(const std::string& path, GivenInputs& given, Wanted wanted, Program& program,
                  ReadInputs& in);

}  // namespace stria::command
