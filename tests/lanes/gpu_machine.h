// SPDX-License-Identifier: Apache-2.0
// GPUs as plugins/opencl sees them, without a driver, and programs compiled for them and run lane
// by lane.
#pragma once

#include <string>
#include <vector>

#include "dice.h"
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

// What hw/gpu.json says where the driver says nothing, a large one and a small one.
const std::vector<Machine>& gpus();

// One that nobody has built, whose tiles are others.
Machine made_up_gpu(trust::Dice& dice);

// `usual` with another pipeline.
Machine with_pipeline(const Machine& usual, const std::string& path,
                      const TemplateSettings& settings);

// Runs the machine's pipeline, and builds the kernels that its code generator prints.
Result<stripe::Program> compile(const Machine& machine, const stripe::Program& generic);

// Compiles the program and runs it once: "", or what is wrong with its values or its lanes.
std::string wrong_on(const Machine& machine, passes::TileProgram& program, uint64_t seed,
                     RunCounts& counts);

// Prints the counts; fails the test if no lanes shared anything, for then it has shown nothing.
void expect_groups(const RunCounts& counts);

}  // namespace stria::lanes
