// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/known_tags.h"

#include <algorithm>

namespace stria::stripe {
namespace {

constexpr std::string_view kStencilIndex = "stencil_";

}  // namespace

const std::vector<KnownTag>& known_tags() {
  using enum TagHolder;
  static const std::vector<KnownTag> tags = {
      {"bank_dim", refinement, false, "the dimension that is spread over instances of a memory"},
      {"bank_size", refinement, false, "how many of its elements are in one instance"},
      {"clamp", refinement, false, "reads outside give the nearest element, which is poison"},
      {"copy", block, false, "it only copies"},
      {"deps", block, true, "its statements run by their dependencies alone"},
      {"direct", block, false, "its tile is calculated without copies in shared memory"},
      {"fetch", refinement, false, "it is asked for and not read"},
      {"fragments", block, false, "a tile whose matrices lanes will hold; its instruction"},
      {"kernel", block, false, "it is a kernel, which a device launches"},
      {"main", block, true, "it holds the kernels"},
      {"one_copy", block, false, "lanes hold what its next point fetches until this one is done"},
      {"panels", refinement, false, "the dimension whose elements pack_panels brings together"},
      {"parallel", block, true, "its points run in parallel"},
      {"parts", block, false, "into how many parts its reduction is cut"},
      {"pipeline", block, true, "how many of its points are under way at once"},
      {"placed", block, true, "its allocations have their bytes, or those in the memory it names"},
      {"prefetch", refinement, false, "how far ahead it is asked for"},
      {"program", block, true, "it is the program"},
      {"prologue", block, true, "it holds what depends on constants alone"},
      {"row_subgroups", block, false, "how many subgroups share out its rows"},
      {"stencil", block, true, "one instruction of the hardware does it"},
      {"stencil_", index, false, "it is this index of the instruction"},
      {"stream", refinement, false, "it is stored past the caches"},
      {"group_lanes", block, false, "how many lanes its group has"},
      {"unroll", block, true, "its points are straight-line code"},
      {"unroll_hint", block, false, "its points may become straight-line code"},
      {"vector", block, true, "its points are the lanes of vector operations"},
      {"zero_fill", refinement, false, "reads outside give 0"},
  };
  return tags;
}

const KnownTag* known_tag(std::string_view name) {
  const std::vector<KnownTag>& tags = known_tags();
  const std::string_view key = name.starts_with(kStencilIndex) ? kStencilIndex : name;
  const auto at =
      std::find_if(tags.begin(), tags.end(), [&](const KnownTag& tag) { return tag.name == key; });
  return at == tags.end() ? nullptr : &*at;
}

}  // namespace stria::stripe
