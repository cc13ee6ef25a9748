// SPDX-License-Identifier: Apache-2.0
// What a pipeline made of a program, kept for the next process: the passes take as long over a
// network as some drivers take to build its kernels
// (docs/decisions/20261126-kept-pipelines.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/block.h"

namespace stria {

// The linker's id of the object that has the passes: another one for every change of its code; ""
// if it has none.
const std::string& build_id();

// Device Stripe in the user's cache folder. Its key has all that it depends on: the program, the
// pipeline as rendered, the model, and the build of the passes. Whatever is wrong with a file is a
// miss.
class KeptPlan {
 public:
  // What took the passes less is not kept.
  static constexpr double kShortMs = 5;

  KeptPlan(const stripe::Program& generic, const Pipeline& pipeline, const HardwareModel& model);

  // The program and its print in `text`; nullopt if it is not there, or the build has no id, or a
  // step is a plugin's, whose build has none that is known here.
  std::optional<stripe::Program> find(std::string& text) const;
  void keep(std::string_view text) const;

 private:
  std::string key_;  // empty: nothing is kept
};

}  // namespace stria
