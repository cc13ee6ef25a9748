// SPDX-License-Identifier: Apache-2.0
// Tries again what a reproducer holds.
#pragma once

#include <optional>
#include <string>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/pass/pipeline.h"
#include "stria/pass/reproducer.h"
#include "stria/runtime/device.h"
#include "stria/stripe/block.h"

namespace stria {

// A reproducer that is ready to be tried. A value; one thread at a time.
class Replay {
 public:
  // `reproducer` was parsed from `file`; `device` may be absent if it needs none. invalid_argument
  // if its hardware model, pipeline or Stripe does not parse.
  static Result<Replay> prepare(const SourceText& file, Reproducer reproducer,
                                std::optional<Device> device);

  // What the verifier says against the program as it stands in the file: a pass may do anything
  // with a program that is not legal.
  Status verify() const;
  // The failure, or ok if nothing fails any more.
  Status run() const;

 private:
  Reproducer reproducer_;
  std::optional<Device> device_;
  HardwareModel model_;
  Pipeline pipeline_;
  stripe::Program program_;
};

}  // namespace stria
