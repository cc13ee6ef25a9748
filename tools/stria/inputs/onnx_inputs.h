// SPDX-License-Identifier: Apache-2.0
// A program from an ONNX file: sizes and values come from --input and --shape, as far as the model
// leaves them open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "failure.h"
#include "inputs/named_values.h"
#include "inputs/program_inputs.h"
#include "stria/runtime/onnx_model.h"
#include "stria/runtime/onnx_options.h"

namespace stria::command {

bool is_onnx(const std::string& path);

using OnnxTensors = std::map<std::string, std::shared_ptr<HostTensor>>;

// What `given` says of the model's inputs: `options` gets sizes, and `tensors` what was read.
// `given` gets sources from its folder. ExitCode::usage, with the nearest right name, for a name
// that the model does not have.
Outcome take_onnx_inputs(const OnnxModel& model, GivenInputs& given, OnnxOptions& options,
                         OnnxTensors& tensors);

// The sizes of an input, if the model and `options` leave none of them open.
std::optional<std::vector<int64_t>> sizes_of(const OnnxInput& input, const OnnxOptions& options);

// read_program for such a file. Reads the model and those inputs that --input gives, and makes the
// program. An input whose elements decide sizes is bound by value if --input gives it. `in` gets
// the others, in the order of the program's inputs; its tensors unless only sizes are wanted.
// --shape also takes the name of an open dimension. All inputs that miss something are told at
// once.
Outcome read_onnx(const std::string& path, GivenInputs& given, Wanted wanted, Program& program,
                  ReadInputs& in, const DeviceOpener& open);

}  // namespace stria::command
