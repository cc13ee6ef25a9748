// SPDX-License-Identifier: Apache-2.0
// One step on one program, and whether it did what a pass promises: what it leaves is legal and
// computes the same, or it refuses with a reason.
#pragma once

#include <string>

#include "stria/hwmodel/hardware_model.h"
#include "stria/interp/program_values.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/block.h"

namespace stria::trust {

// A hardware model with what the verifier knows of it.
class OrderCheck {
 public:
  static Result<OrderCheck> of(const HardwareModel& model, const std::vector<PassInfo>& passes);

  struct Outcome {
    enum class Kind { changed, same, refused, wrong } kind = Kind::same;
    // Of what is wrong: "not legal", "internal error", "wrong value"; the message.
    std::string fault, message;
    std::string pass;
  };
  // Runs the step; `program` is what it left if it changed it, and is as it was if it refused.
  // `values`: what the program has to compute. `regrouped`: a step before regrouped sums; set if
  // this one does.
  Outcome run(stripe::Program& program, const std::string& json, interp::ProgramValues& values,
              bool& regrouped) const;
  // "" or why the program is not legal.
  std::string why_not_legal(const stripe::Program& program) const;

 private:
  OrderCheck(const HardwareModel& model, const std::vector<PassInfo>& passes, ModelRules rules)
      : model_(&model), passes_(&passes), rules_(std::move(rules)) {}

  const HardwareModel* model_;
  const std::vector<PassInfo>* passes_;
  ModelRules rules_;
};

}  // namespace stria::trust
