// SPDX-License-Identifier: Apache-2.0
// What becomes of a program on its way to a device, stage by stage.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/boundary/info.h"
#include "stria/pass/pass_context.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/host/program_binding.h"
#include "stria/runtime/program.h"
#include "stria/stripe/block.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/bind/bound.h"
#include "stria/type/flushed_types.h"

namespace stria {

struct Compilation {
  tile::BoundProgram bound;
  std::shared_ptr<const ProgramBinding> binding;  // null: callers know names and inputs as in Tile
  stripe::Program generic;  // straight from lowering: what the interpreter checks against
  std::string warnings;  // about the program's text, rendered like errors; empty if there are none
  // Made by CompileDriver::specialize:
  stripe::Program device;  // after the device's pipeline
  std::string device_text;
  std::vector<StepReport> steps;  // of the pipeline
  FlushedTypes flushed;           // by the device's model: error bounds allow for it
  // With keep_stages: "00_program.tile", "01_lower.stripe", "02_<step>.stripe", …
  std::vector<hal::NamedText> stages;

  // Appends a stage named "NN_<name>.<ending>".
  void add_stage(std::string_view name, std::string_view ending, std::string text);
};

// From program text to generic Stripe, the same for all devices. Every input of the program must be
// in `inputs` unless it has a type; names that it does not have are ignored. All mistakes found,
// with their places.
Result<Compilation> lower_program(const Program& program, const InputTypes& inputs,
                                  const CompileOptions& options = {});

// Arithmetic operations of one run of each kernel of generic Stripe, by name: each elementwise
// operation but a plain conversion counts one, each aggregation one, over the whole index box
// (constraints at the border included), so a convolution counts what textbooks count.
std::map<std::string, double> kernel_operations(const stripe::Program& generic);

}  // namespace stria
