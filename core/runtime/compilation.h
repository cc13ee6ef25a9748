// SPDX-License-Identifier: Apache-2.0
// What becomes of a program on its way to a device, stage by stage.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/info.h"
#include "stria/pass/pass_context.h"
#include "stria/runtime/program.h"
#include "stria/stripe/block.h"
#include "stria/tile/bind.h"
#include "stria/tile/bound.h"

namespace stria {

// The type and sizes of each input of a program, by name.
using InputTypes = std::map<std::string, tile::TensorType>;

// Is told, as reproducers (stria/pass/reproducer.h), what a compilation tries: what failed can then
// be tried again from one file. Called on the thread that compiles.
class FailureRecorder {
 public:
  virtual ~FailureRecorder() = default;
  // This is about to be tried, and the process may not survive it; until end().
  virtual void begin(const std::string& reproducer) = 0;
  virtual void end() = 0;
  // This failed: a step of the pipeline, or the plugin's build.
  virtual void failed(const std::string& reproducer) = 0;
};

// How to compile.
struct CompileOptions {
  // Allows what changes float results within the usual meaning of "fast math".
  bool fast_math = false;
  // Keeps the text of every stage in Compilation::stages, and the plugin's generated sources.
  bool keep_stages = false;
  // Borrowed for the time of the call; null: nobody is told.
  FailureRecorder* recorder = nullptr;
};

struct Compilation {
  tile::BoundProgram bound;
  stripe::Program generic;  // straight from lowering: what the interpreter checks against
  std::string warnings;     // about the program's text, rendered like errors; empty if there are none
  // Made by Device::specialize:
  stripe::Program device;  // after the device's pipeline
  std::string device_text;
  std::vector<StepReport> steps;  // of the pipeline
  // With keep_stages: "00_program.tile", "01_lower.stripe", "02_<step>.stripe", …
  std::vector<hal::NamedText> stages;

  // Appends a stage named "NN_<name>.<ending>".
  void add_stage(std::string_view name, std::string_view ending, std::string text);
};

// From program text to generic Stripe, the same for all devices. Every input of the program must be
// in `inputs`; names that it does not have are ignored. All mistakes found, with their places.
Result<Compilation> lower_program(const Program& program, const InputTypes& inputs,
                                  const CompileOptions& options = {});

// Arithmetic operations of one run of each kernel of generic Stripe, by name: each elementwise
// operation but a plain conversion counts one, each aggregation one, over the whole index box
// (constraints at the border included), so a convolution counts what textbooks count.
std::map<std::string, double> kernel_operations(const stripe::Program& generic);

}  // namespace stria
