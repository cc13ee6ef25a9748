// SPDX-License-Identifier: Apache-2.0
// The operators of the standard and those that are translated, side by side.
#pragma once

#include <string>
#include <vector>

namespace stria::command {

struct OperatorRow {
  std::string domain;  // "ai.onnx"
  std::string name;
  std::string versions;  // of its domain, in which it came or changed; "": not of the standard
  bool supported = false;
};
// By domain and name, the standard's first domain first.
std::vector<OperatorRow> operator_rows();

// docs/onnx-operators.md
std::string operators_page();

}  // namespace stria::command
