// SPDX-License-Identifier: Apache-2.0
// Who writes `--json FILE` means that the JSON goes into a file.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "stria/base/shown_text.h"

namespace stria::command {

inline std::string print_to_file_hint(std::string_view file) {
  return fmt::format(
      "--json takes no value: it prints to standard output, did you mean '--json > {}'?",
      shown_name(file));
}

}  // namespace stria::command
