// SPDX-License-Identifier: Apache-2.0
// `stria fmt`: writes Tile files in their canonical form.
#pragma once

#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

struct FmtOptions {
  std::vector<std::string> files;
  bool in_place = false;
  bool check = false;
};
Outcome fmt_files(const FmtOptions& options);

}  // namespace stria::command
