// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/tags.h"

#include <algorithm>
#include <array>

namespace stria::stripe {
namespace {

using enum TagClass;
using enum TagValueKind;
using enum TagPlaces;

constexpr KnownTag kTable[] = {
#define STRIA_TAG(constant, ...) {__VA_ARGS__},
#include "stria/stripe/tags.def"
};

constexpr bool by_name(const KnownTag& a, const KnownTag& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(kTable), std::end(kTable), by_name));

// Apart, since the verifier asks for each tag of a program, and most marks are of a family.
constexpr bool names_a_family(const KnownTag& tag) { return tag.name.ends_with('_'); }
constexpr auto kFamilies = [] {
  std::array<const KnownTag*, std::count_if(std::begin(kTable), std::end(kTable), names_a_family)>
      out{};
  size_t next = 0;
  for (const KnownTag& tag : kTable)
    if (names_a_family(tag)) out[next++] = &tag;
  return out;
}();

}  // namespace

bool has_kind(const TagValue& value, TagValueKind kind) {
  const bool is_none = std::holds_alternative<std::monostate>(value);
  switch (kind) {
    case none: return is_none;
    case number_or_none:
      if (is_none) return true;
      [[fallthrough]];
    case number: return std::holds_alternative<int64_t>(value);
    case text_or_none:
      if (is_none) return true;
      [[fallthrough]];
    case text: return std::holds_alternative<std::string>(value);
  }
  return false;
}

std::string_view name_of(TagValueKind kind) {
  switch (kind) {
    case none: return "no value";
    case number: return "a whole number";
    case text: return "a text";
    case number_or_none: return "a whole number or no value";
    case text_or_none: return "a text or no value";
  }
  return "";
}

std::string places_as_text(TagPlaces places) {
  constexpr std::pair<TagPlaces, const char*> kNames[] = {{program, "the program"},
                                                          {section, "a section"},
                                                          {block, "a block"},
                                                          {refinement, "a refinement"},
                                                          {index, "an index"}};
  std::string out;
  for (const auto& [place, name] : kNames) {
    if (!includes(places, place)) continue;
    places = static_cast<TagPlaces>(static_cast<uint8_t>(places) & ~static_cast<uint8_t>(place));
    out += (out.empty() ? "" : places == nowhere ? " or " : ", ") + std::string(name);
  }
  return out;
}

std::span<const KnownTag> known_tags() { return kTable; }

const KnownTag* known_tag(std::string_view name) {
  const auto at = std::lower_bound(
      std::begin(kTable), std::end(kTable), name,
      [](const KnownTag& tag, std::string_view wanted) { return tag.name < wanted; });
  if (at != std::end(kTable) && at->name == name) return at;
  for (const KnownTag* family : kFamilies)
    if (name.starts_with(family->name)) return family;
  return nullptr;
}

}  // namespace stria::stripe
