// SPDX-License-Identifier: Apache-2.0
// The tags that mean something: to the verifier, the interpreter, emitters, or passes that do not
// name them in an option. Every other tag is a mark that pipelines make and look for.
#pragma once

#include <string_view>
#include <vector>

namespace stria::stripe {

enum class TagHolder { block, refinement, index };

struct KnownTag {
  std::string_view name;
  TagHolder holder = TagHolder::block;
  // It says how the block itself runs, or which part of the program it is. A block that is made of
  // a part of that one does not have it.
  bool of_the_block = false;
  std::string_view meaning;  // "its points run in parallel"
};

// By name.
const std::vector<KnownTag>& known_tags();

// Null for a tag that means nothing by itself. `stencil_m` is known for any m.
const KnownTag* known_tag(std::string_view name);

}  // namespace stria::stripe
