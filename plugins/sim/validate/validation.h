// SPDX-License-Identifier: Apache-2.0
// Published and closed-form cases, each with the expected result and the simulator's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"
#include "stria/type/data_type.h"

namespace stria::sim {

struct ValidationCase {
  std::string name;
  std::string source;  // who says so
  double expected = 0, ours = 0;
  double within_percent = 0;  // the expected number is printed with so few digits
  double error_percent() const;
  bool met() const;
};

struct ValidationInput {
  std::string name;
  DataType type = DataType::i8;
  std::vector<int64_t> sizes;
};
// A Tile text as device Stripe for a machine, by the pipeline that serves any model.
using MapProgram = std::function<Result<stripe::Program>(
    const std::string& tile, const std::vector<ValidationInput>& inputs, const HardwareModel&)>;

// `slides_template`: the model of the Stripe slides. All cases are computed anew. Fails if a case
// does not run at all.
Result<std::vector<ValidationCase>> validate(const SourceText& slides_template,
                                             const MapProgram& map);

// A table of the cases and how many are exact.
std::string validation_table(const std::vector<ValidationCase>& cases);

}  // namespace stria::sim
