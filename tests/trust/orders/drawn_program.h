// SPDX-License-Identifier: Apache-2.0
// The programs that orders of passes are tried on: generated legal Stripe, lowered Tile programs,
// and those after the first steps of a pipeline that a plugin ships.
#pragma once

#include <string>
#include <vector>

#include "dice.h"
#include "shipped_pipelines.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/block.h"

namespace stria::trust {

// What a pipeline is drawn for.
struct DrawnProgram {
  std::string kind;  // "legal", "tile", "begun"
  std::string name;  // "legal program 17", "Tile program 17, 9 steps of llvm_cpu: …"
  stripe::Program program;
  size_t machine = 0;               // of Programs::machines()
  std::vector<std::string> begins;  // steps as JSON that run before the drawn ones
};

// A hardware model, and the options that shipped pipelines for it give each pass.
struct Machine {
  std::string name;
  HardwareModel model;
  Pipeline shipped;  // none: no steps
};

class Programs {
 public:
  static Result<Programs> load();

  const std::vector<Machine>& machines() const { return machines_; }
  // The same for a number in every run.
  DrawnProgram draw(uint64_t number) const;

 private:
  std::vector<Machine> machines_;  // the first is that of the generated legal programs
};

}  // namespace stria::trust
