// SPDX-License-Identifier: Apache-2.0
// Calls of functions of mathematics. Those of GLSL.std.450 are not exact enough, so each one that a
// kernel calls becomes a function of its module, made from the kernel tree's own
// (core/semtree/mathematics).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/features.h"
#include "emit/module.h"
#include "emit/values.h"
#include "stria/base/status.h"

namespace stria::vulkan {

class MathCalls {
 public:
  MathCalls(Module& module, Values& values, const Features& features)
      : module_(module), values_(values), features_(features) {}

  // `callee` of numbers of `type`. With fast_math, exp and log of fp32 are the hardware's.
  Id call(std::string_view callee, DataType type, const std::vector<Id>& args);
  // The first call that could not be made.
  const Status& status() const { return status_; }

 private:
  // The id of the function; 0 if there is none.
  Id function(const std::string& callee, DataType type);

  Module& module_;
  Values& values_;
  const Features& features_;
  std::map<std::pair<std::string, DataType>, Id> functions_;
  Status status_;
};

}  // namespace stria::vulkan
