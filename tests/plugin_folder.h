// SPDX-License-Identifier: Apache-2.0
// Which plugins the tests load: those of the build, or those of the folder in STRIA_TEST_PLUGINS.
#pragma once

#include <cstdlib>
#include <string>

namespace stria {

inline std::string plugin_folder(const std::string& of_the_build) {
  const char* other = std::getenv("STRIA_TEST_PLUGINS");
  return other ? other : of_the_build;
}

}  // namespace stria
