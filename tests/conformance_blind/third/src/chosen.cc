// SPDX-License-Identifier: Apache-2.0
#include "chosen.h"

#include <dlfcn.h>

#include <fstream>
#include <string>

namespace third_chip {
namespace {

Mistake read_mistake() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&chosen_mistake), &self) == 0) return Mistake::none;
  const std::string library = self.dli_fname;
  std::ifstream file(library.substr(0, library.find_last_of('/') + 1) + "mistake");
  std::string name;
  file >> name;
#define STRIA_THIRD(mistake) \
  if (name == #mistake) return Mistake::mistake;
#include "mistakes.def"
#undef STRIA_THIRD
  return Mistake::none;
}

}  // namespace

Mistake chosen_mistake() {
  static const Mistake chosen = read_mistake();
  return chosen;
}

}  // namespace third_chip
