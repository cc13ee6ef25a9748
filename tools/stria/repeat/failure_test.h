// SPDX-License-Identifier: Apache-2.0
// How `stria reduce` sees whether a program fails, and whether two programs fail in the same way.
#pragma once

#include <functional>
#include <string>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/block.h"

namespace stria::command {

// Describes the failure of a program, in words that are the same for programs that fail in the same
// way; "" if it does not fail.
using FailureTest = std::function<std::string(const stripe::Program&)>;

// Runs a pipeline on the program, in a process of its own. A failure is an error, a crash, a
// program that is not legal, or other values than before.
struct PipelineTest {
  Pipeline pipeline;
  HardwareModel model;
  bool exact = false;      // floats must keep every bit
  uint64_t seed = 1;       // of the inputs
  bool legal_only = true;  // a program that is not legal itself does not count
};
FailureTest fails_in_pipeline(PipelineTest test);

// Runs `command` by the shell. {} in it, or its end, becomes the path of a file with the text that
// `as_text` makes of the program. A failure is an exit code other than 0, or, if `says` is given,
// output with that text.
FailureTest fails_in_command(const std::string& command, const std::string& says,
                             std::function<std::string(const stripe::Program&)> as_text);

}  // namespace stria::command
