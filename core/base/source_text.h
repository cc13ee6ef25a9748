// SPDX-License-Identifier: Apache-2.0
// A text and what it is called.
#pragma once

#include <string>

namespace stria {

// A text with the name that messages give it (a path, "<string>"). Plain value.
struct SourceText {
  std::string name;
  std::string text;
};

}  // namespace stria
