// SPDX-License-Identifier: Apache-2.0
// `stria compile`: writes the device Stripe of a program, and on demand every stage before it and
// what the plugin makes of it. Of an ONNX model also the Tile that it is.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "inputs/program_inputs.h"

namespace stria::command {

// As spelled on the command line.
struct CompileOptionsText {
  std::string program;
  std::string function;
  std::string device;
  bool explain_device = false;
  InputTexts in;
  std::string dump_dir;  // empty: none
  std::string output;
  std::string to = "stripe";           // or "tile": the model's own text, for no device
  std::vector<std::string> constants;  // NAME
  bool fast_math = false;
  bool no_peepholes = false;
  bool explain_cost = false;
  int tune = 0;                       // candidates that are timed; 0: none
  std::vector<std::string> settings;  // NAME=VALUE, parameters of the device's pipeline
  std::string repro_dir;              // of reproducers; empty: the working directory
};
Outcome compile(const CompileOptionsText& options);

}  // namespace stria::command
