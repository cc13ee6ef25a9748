// SPDX-License-Identifier: Apache-2.0
// What a run says is wrong with a kernel, and where.
#pragma once

#include <string>
#include <utility>

#include "stria/base/status.h"
#include "stria/semtree/tree/print.h"

namespace stria::lanes {

class FaultText {
 public:
  // `function` must outlive it.
  explicit FaultText(const semtree::Function& function) : function_(function) {}

  template <typename... Args>
  Status fault(fmt::format_string<Args...> text, Args&&... args) const {
    return invalid_argument("kernel '{}': {}", function_.name,
                            fmt::format(text, std::forward<Args>(args)...));
  }
  // The statement's first line.
  std::string text_of(const semtree::Statement& statement) const {
    const std::string text = semtree::print(statement, function_);
    return "`" + text.substr(0, text.find('\n')) + "`";
  }

 private:
  const semtree::Function& function_;
};

}  // namespace stria::lanes
