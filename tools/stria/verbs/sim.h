// SPDX-License-Identifier: Apache-2.0
// `stria sim`: runs a program on a machine that is a hardware model: values, time and energy.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "inputs/program_inputs.h"

namespace stria::command {

// As spelled on the command line.
struct SimOptions {
  std::string program;
  std::string function;
  InputTexts in;
  std::vector<std::string> constants;  // NAME
  std::vector<std::string> hw;         // a model, then what refines it; empty: the plugin's
  std::string pipeline;                // a JSON file; empty: the plugin's
  std::vector<std::string> settings;   // NAME=VALUE
  std::string map;                     // quick or best; empty: as the pipeline does
  std::string report;                  // folder; empty: none
  std::string fidelity = "event";      // roofline, event or cycle
  std::string buses = "fluid";         // or burst
  bool validate = false;               // print the validation cases, and nothing else
  std::string topology;                // a layer table of SCALE-Sim instead of a program
  std::string array;                   // "32x32", for the table
  std::string dataflow = "os";
  bool no_skip_ahead = false;
  bool timing_only = false;
  bool functional_only = false;
};
Outcome sim(const SimOptions& options);

}  // namespace stria::command
