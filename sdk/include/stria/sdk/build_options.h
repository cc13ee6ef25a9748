// SPDX-License-Identifier: Apache-2.0
// The options of Compiler::compile, which the host writes as a JSON object of booleans:
// {"fast_math": false, "dump_source": false, "no_peepholes": false}.
#pragma once

#include <string>
#include <string_view>

#include "stria/sdk/error.h"

namespace stria::sdk {

struct BuildOptions {
  bool fast_math = false;     // what docs/semantics.md allows of floats is relaxed further
  bool dump_source = false;   // Library::source is asked for
  bool no_peepholes = false;  // leave out what changes no value (stria_tree_options)
};

// The value of `key` in an object without objects inside; false if it is not there. Throws Error
// for anything but true and false.
inline bool build_flag(std::string_view object, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  size_t at = object.find(quoted);
  if (at == std::string_view::npos) return false;
  at = object.find_first_not_of(" \t\r\n", at + quoted.size());
  if (at != std::string_view::npos && object[at] == ':') {
    at = object.find_first_not_of(" \t\r\n", at + 1);
    if (at != std::string_view::npos && object.substr(at, 4) == "true") return true;
    if (at != std::string_view::npos && object.substr(at, 5) == "false") return false;
  }
  throw Error(STRIA_INVALID_ARGUMENT, "build option '" + std::string(key) +
                                          "' is not true or false: " + std::string(object));
}

inline BuildOptions read_build_options(std::string_view object) {
  return {build_flag(object, "fast_math"), build_flag(object, "dump_source"),
          build_flag(object, "no_peepholes")};
}

}  // namespace stria::sdk
