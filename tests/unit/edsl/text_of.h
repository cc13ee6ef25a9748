// SPDX-License-Identifier: Apache-2.0
// What the tests of core/edsl share.
#pragma once

#include <string>
#include <vector>

#include "stria/edsl.h"

namespace stria::edsl {

// The Tile text of a program, or its failure.
inline std::string text_of(const std::vector<Input>& inputs, const std::vector<Tensor>& results,
                           std::string name = "f") {
  const Result<Program> made = program(std::move(name), inputs, results);
  return made.ok() ? made->text() : made.status().to_string();
}

// The message of a program that must be refused as the caller's mistake.
inline std::string mistake_of(const std::vector<Input>& inputs, const std::vector<Tensor>& results,
                              std::string name = "f") {
  const Result<Program> made = program(std::move(name), inputs, results);
  if (made.ok()) return "it was accepted:\n" + made->text();
  if (made.status().code() != StatusCode::invalid_argument) return made.status().to_string();
  return made.status().message();
}

}  // namespace stria::edsl
