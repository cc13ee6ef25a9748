// SPDX-License-Identifier: Apache-2.0
// Who reads what the command prints: `--verbose` and `--author`, which every verb takes.
#pragma once

namespace stria::command {

struct Audience {
  bool verbose = false;  // wants every line that plugins log, not warnings and errors alone
  bool author = false;   // writes the plugin, and wants to know what to edit
};

// The one of this process; set before the verb runs, constant afterwards.
inline Audience& audience() {
  static Audience one;
  return one;
}

}  // namespace stria::command
