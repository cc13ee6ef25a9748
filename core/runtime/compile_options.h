// SPDX-License-Identifier: Apache-2.0
// The options of a compilation.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "stria/base/source_text.h"
#include "stria/runtime/failure_recorder.h"
#include "stria/type/tensor_type.h"

namespace stria {

// The type and sizes of each input of a program, by name.
using InputTypes = std::map<std::string, TensorType>;

// How to compile. Plain value.
struct CompileOptions {
  // Allows what changes float results within the usual meaning of "fast math".
  bool fast_math = false;
  // Leaves out the peepholes of code generators (docs/emitters.md). The code computes the same
  // within the rules of floats, more slowly: to find out whether a peephole is at fault.
  bool no_peepholes = false;
  // Inputs that hold the same values for many runs: weights. The first run with such tensors
  // computes what depends on them alone. It is computed again by the first run after one of them
  // was written, or after another tensor took its place. Results do not depend on what is named
  // here. not_found for an input that the program does not have.
  std::set<std::string> constants;
  // Keeps the text of every stage for Executable::stages, and the plugin's generated sources.
  bool keep_stages = false;
  // Should a run know the time of each kernel, and in which kernel a failure came up, whatever the
  // device says of it? This has a price: a device behind a driver is asked for an event of each
  // kernel, which may take longer than a small kernel. Without it, a run that fails still fails.
  bool watch_kernels = false;
  // A pass pipeline (JSON) instead of the device's own; `name` is used in messages. It is rendered
  // with the device's hardware model in scope, like the plugin's.
  std::optional<SourceText> pipeline;
  // Wherever the pipeline chooses tiles, so many of the best candidates by cost are timed on the
  // device, and the fastest is taken; 0: none. The first time it takes seconds for each kernel;
  // times are kept in the user's cache folder. The pipeline sees the number as `tune`. unsupported
  // for a pipeline that does not use it, invalid_argument if `parameters` give a parameter whose
  // default it is.
  int tune = 0;
  // Values for parameters of the pipeline, by name (JSON if it parses as such, else text):
  // {"WINOGRAD", "4"}. not_found for a parameter that the pipeline does not have, invalid_argument
  // for a value that it does not take. `stria hw --device SEL` lists parameters and legal values.
  std::map<std::string, std::string> parameters;
  // Borrowed for the time of the call; null: nobody is told.
  FailureRecorder* recorder = nullptr;
};

}  // namespace stria
