// SPDX-License-Identifier: Apache-2.0
// What a hardware model tells the verifier: units, depths of pipelines, sizes of memories and
// stencils, as plain names and numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/verify/verifier.h"

namespace stria {

// Plain value. Its options borrow from it: it must outlive them, unmoved.
class ModelRules {
 public:
  // invalid_argument: an instruction's fragment is no form over bits.
  static Result<ModelRules> of(const HardwareModel& model);

  // If the model has no units, locations are not checked. Depths are those that the model gives.
  // Sizes are those of scratchpads, as far as the model says which memories are scratchpads.
  stripe::VerifyOptions options(
      const std::map<std::string, stripe::IntrinsicSignature>* intrinsics) const;

 private:
  std::map<std::string, int64_t> units_;
  std::map<std::string, int64_t> pipeline_depths_;
  std::map<std::string, int64_t> memory_bytes_;
  std::vector<stripe::Stencil> stencils_;
};

}  // namespace stria
