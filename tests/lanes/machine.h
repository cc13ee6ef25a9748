// SPDX-License-Identifier: Apache-2.0
// A machine that programs are compiled for without a driver, and whose lanes are run here.
#pragma once

#include <string>

#include "kernel_run.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/semtree/c/program_source.h"
#include "tile_program.h"

namespace stria::lanes {

struct Machine {
  std::string name;
  HardwareModel model;
  Pipeline pipeline;
  semtree::SourceOptions options;
  // What does not fit, or is not supported, is counted: of tiles that nothing has weighed.
  bool may_refuse = false;
};

// `usual` with another pipeline.
Machine with_pipeline(const Machine& usual, const std::string& path,
                      const TemplateSettings& settings);

// Runs the machine's pipeline.
Result<stripe::Program> run_passes(const Machine& machine, const stripe::Program& generic);

// The same, and builds the kernels that its code generator prints.
Result<stripe::Program> compile(const Machine& machine, const stripe::Program& generic);

// Is it a refusal that a machine which may refuse may make?
bool is_refusal(const Status& status);

// Compiles the program and runs it once: "", or what is wrong with its values or its lanes.
std::string wrong_on(const Machine& machine, passes::TileProgram& program, uint64_t seed,
                     RunCounts& counts);

// Prints the counts; fails the test if no lanes shared anything, for then it has shown nothing.
void expect_groups(const RunCounts& counts);

}  // namespace stria::lanes
