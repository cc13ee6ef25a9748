// SPDX-License-Identifier: Apache-2.0
// The tags with a meaning of their own: for the verifier, the interpreter, emitters, or passes that
// do not name them in an option. Any other tag is a mark that pipelines set and look for.
#pragma once

#include <string_view>
#include <vector>

namespace stria::stripe {

enum class TagHolder { block, refinement, index };

struct KnownTag {
  std::string_view name;
  TagHolder holder = TagHolder::block;
  // The tag says how the block itself runs, or which part of the program it is. A block made of a
  // part of that block does not inherit it.
  bool of_the_block = false;
  std::string_view meaning;  // "its points run in parallel"
};

// By name.
const std::vector<KnownTag>& known_tags();

// Null for a tag that means nothing by itself. `stencil_m` is known for any m.
const KnownTag* known_tag(std::string_view name);

}  // namespace stria::stripe
