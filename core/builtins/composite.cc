// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/composite.h"

namespace stria {
namespace builtins {
#define STRIA_COMPOSITE(name) extern const Composite name;
#include "stria/builtins/all_composites.def"
#undef STRIA_COMPOSITE
}  // namespace builtins

namespace {

constexpr const Composite* kAllComposites[] = {
#define STRIA_COMPOSITE(name) &builtins::name,
#include "stria/builtins/all_composites.def"
#undef STRIA_COMPOSITE
};

}  // namespace

std::span<const Composite* const> all_composites() { return kAllComposites; }

const Composite* find_composite(std::string_view name) {
  for (const Composite* composite : kAllComposites)
    if (composite->name == name) return composite;
  return nullptr;
}

}  // namespace stria
