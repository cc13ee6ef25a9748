// SPDX-License-Identifier: Apache-2.0
// Looks spellings of a Dialect up and fills their placeholders in; private to this folder.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/c/dialect.h"

namespace stria::semtree {

class Speller {
 public:
  // Helper functions that are used go to the end of `helpers`, once each (`known` remembers).
  Speller(const Dialect& dialect, std::set<std::string>& known, std::string& helpers)
      : dialect_(dialect), known_(known), helpers_(helpers) {}

  // The first thing that the dialect lacked; ok if nothing.
  const Status& status() const { return status_; }
  void lacks(std::string what);

  std::string type_name(Type type);
  std::string memory_name(DataType type);
  // Integer types as wide as an element of `type`, with its lanes.
  std::string signed_name(Type type);
  std::string unsigned_name(Type type);

  // The spelling for `key` of `type`, or null.
  const Spelling* find(std::string_view key, Type type) const;
  // Filled in; `key` must be in the dialect, else lacks(what).
  std::string expand(std::string_view key, Type looked_up, Type result, Type operand,
                     const std::vector<std::string>& operands, std::string_view what);
  std::string expand(const Spelling& spelling, Type result, Type operand,
                     const std::vector<std::string>& operands);

 private:
  std::string fill(std::string_view text, Type result, Type operand,
                   const std::vector<std::string>& operands);

  const Dialect& dialect_;
  std::set<std::string>& known_;
  std::string& helpers_;
  Status status_;
};

}  // namespace stria::semtree
