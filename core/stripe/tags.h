// SPDX-License-Identifier: Apache-2.0
// The tags that core, its passes and emitters know. tags.def has the table: who sets a tag, who
// reads it, on what it may stand. Code names a tag by its constant, stripe::tag::kParallel. Text
// is open: any other tag is a mark that pipelines set and look for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stria/stripe/block.h"

namespace stria::stripe {

namespace tag {
#define STRIA_TAG(constant, name, ...) inline constexpr const char* constant = name;
#include "stria/stripe/tags.def"
}  // namespace tag

enum class TagClass {
  semantics,  // docs/semantics.md defines it, and the verifier, the interpreter or emitters obey it
  hint,       // changes no value (S20): emitters may ignore it
  passes,     // one pass leaves it for another, whatever the pipeline says
  mark,       // says what a kernel or a block is; pipelines look for it, and may set it, too
};

// What follows the name.
enum class TagValueKind { none, number, text, number_or_none, text_or_none };
bool has_kind(const TagValue& value, TagValueKind kind);
// "no value", "a whole number".
std::string_view name_of(TagValueKind kind);

// On what a tag may stand; several are joined by |.
enum class TagPlaces : uint8_t {
  nowhere = 0,
  program = 1,  // the outermost block
  section = 2,  // its blocks #main and #prologue
  block = 4,    // a kernel, or a block inside one
  refinement = 8,
  index = 16,
};
constexpr TagPlaces operator|(TagPlaces a, TagPlaces b) {
  return static_cast<TagPlaces>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr bool includes(TagPlaces all, TagPlaces one) {
  return (static_cast<uint8_t>(all) & static_cast<uint8_t>(one)) != 0;
}
// "a block", "the program, a section or a block".
std::string places_as_text(TagPlaces places);

struct KnownTag {
  std::string_view name;  // ends in '_': all names that begin so
  TagClass meaning_class = TagClass::mark;
  TagValueKind value = TagValueKind::none;
  TagPlaces places = TagPlaces::block;
  // The tag says how the block itself runs, or which part of the program it is. A block made of a
  // part of that block does not inherit it.
  bool of_the_block = false;
  std::string_view meaning;  // "its points run in parallel"
  std::string_view set_by;   // "lowering pad": lowering, and the names of passes
  std::string_view read_by;  // Markdown

  bool is_family() const { return name.ends_with('_'); }
  // Has it a meaning of its own? No option sets such a tag, unless it is made for it.
  bool is_reserved() const { return meaning_class != TagClass::mark; }
};

// By name.
std::span<const KnownTag> known_tags();

// Null for a tag that means nothing by itself. `stencil_m` is known for any m.
const KnownTag* known_tag(std::string_view name);

}  // namespace stria::stripe
