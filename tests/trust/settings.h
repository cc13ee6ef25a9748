// SPDX-License-Identifier: Apache-2.0
// What a run of these tests is told by its environment.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace stria::trust {

inline uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline std::string text_from(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text ? text : otherwise;
}

}  // namespace stria::trust
