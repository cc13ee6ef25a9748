// SPDX-License-Identifier: Apache-2.0
// A pipeline that went wrong, made small: as few steps as still show the fault, then as few
// options, then a small program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "drawn_program.h"
#include "order_check.h"

namespace stria::trust {

struct OrderFailure {
  uint64_t number = 0;     // of the pipeline
  std::string drawn_name;  // of the program
  size_t machine = 0;
  stripe::Program program;         // before the steps
  std::vector<std::string> steps;  // the last one fails
  bool regrouped = false;          // before the steps
  // "not legal", "wrong value", "internal error", "signal 11 (…)", "no end within 20 s".
  std::string fault;
  std::string message;
  // Failures of one kind have one signature: pass, fault and message without names and numbers.
  std::string signature() const;
};

// Runs the steps in a child; `failure` gets fault, message and steps up to the failing one. False
// if nothing is wrong, or the program itself is not legal.
bool fails(OrderFailure& failure, const Machine& machine, const std::vector<PassInfo>& passes);

// The smallest failure of this signature that was found. `failure` fails.
OrderFailure made_small(const OrderFailure& failure, const Machine& machine,
                        const std::vector<PassInfo>& passes, int64_t max_tries);

// A reproducer (pass/reproducer.h), which `stria opt --run-repro` takes as well.
std::string as_reproducer(const OrderFailure& failure, const Machine& machine);

}  // namespace stria::trust
