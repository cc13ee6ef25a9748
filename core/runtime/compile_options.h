// SPDX-License-Identifier: Apache-2.0
// What a compilation is told besides the program.
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
  // Inputs that hold the same values for many runs: weights. What is computed of them alone is
  // computed by the first run with such tensors, and again by the first one after one of them was
  // written or another tensor took its place. Results are the same whatever is named here. An input
  // that the program does not have is not_found.
  std::set<std::string> constants;
  // Keeps the text of every stage for Executable::stages, and the plugin's generated sources.
  bool keep_stages = false;
  // Whether a run knows the time of each kernel, and, whatever the device says of a failure, in
  // which one it came up. It has its price: a device behind a driver is asked for an event of each
  // kernel, which may take longer than a small kernel. Without it a run fails all the same.
  bool watch_kernels = false;
  // A pass pipeline (JSON) in place of the device's own; `name` stands in messages. It is rendered
  // with the device's hardware model in scope, like the plugin's.
  std::optional<SourceText> pipeline;
  // So many of the best candidates by cost are timed on the device wherever the pipeline chooses
  // tiles, and the fastest is taken; 0: none. Takes seconds for each kernel the first time: times
  // are kept in the user's cache folder. The pipeline sees it as `tune`; unsupported for one that
  // does not, invalid_argument if `parameters` give a parameter whose default it is.
  int tune = 0;
  // Values for parameters of the pipeline, by name (JSON where it is JSON, else text): {"WINOGRAD",
  // "4"}. not_found for one that the pipeline does not have, invalid_argument for a value that it
  // does not take. `stria hw --device SEL` lists them, with what is legal.
  std::map<std::string, std::string> parameters;
  // Borrowed for the time of the call; null: nobody is told.
  FailureRecorder* recorder = nullptr;
};

}  // namespace stria
