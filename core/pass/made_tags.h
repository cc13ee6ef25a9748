// SPDX-License-Identifier: Apache-2.0
// The tags that a program may have at a step of a pipeline: those that lowering makes, and those
// that the steps before set, by their options or of themselves (stripe/tags.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "stria/pass/option_fields.h"

namespace stria {

class MadeTags {
 public:
  MadeTags();  // those of lowering, and of the sections of a program
  void add(const std::string& pass, const StepTags& tags);
  // Of a pass that may set any tag.
  void add_any() { any_ = true; }
  bool holds(const std::string& tag) const;
  // Those that can be listed: no family of names.
  std::vector<std::string> names() const { return {names_.begin(), names_.end()}; }

 private:
  void add_known(std::string_view by);

  std::set<std::string> names_;
  std::set<std::string> families_;  // "eltwise_": all names that begin so
  bool any_ = false;
};

}  // namespace stria
