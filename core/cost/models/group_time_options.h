// SPDX-License-Identifier: Apache-2.0
// What groups of a tile may be like: the options of the cost `group_time`, which `split_reduction`
// has too.
#pragma once

#include <optional>
#include <string>

#include "stria/base/status.h"
#include "stria/cost/workgroup/group_time.h"
#include "stria/pass/option_fields.h"

namespace stria::cost {

struct GroupTimeOptions {
  std::string unit = "CORE";      // execution unit of the model that runs groups
  std::string local = "LOCAL";    // memory unit that lanes of a group share
  std::string registers = "REG";  // memory unit that each lane has
  bool parts = false;   // lanes may divide a step's reduction among themselves (tag #parts)
  bool direct = false;  // lanes may load operands from global memory, not staged (tag #direct)

  bool operator==(const GroupTimeOptions&) const = default;

  void describe(OptionFields& fields);
  // not_found or invalid_argument: a unit that the model lacks. Paths begin at the options.
  Status check(const HardwareModel& model) const;
  // nullopt: the model does not say what the unit can do.
  std::optional<GroupRates> rates(const HardwareModel& model) const;
  // `depth`: steps whose operands are staged at once.
  GroupForm form(int64_t depth) const { return {depth, parts, direct}; }
};

}  // namespace stria::cost
