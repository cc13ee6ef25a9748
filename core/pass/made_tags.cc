// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/made_tags.h"

#include <algorithm>

#include "stria/stripe/tags.h"

namespace stria {
namespace {

// Is the word one of those in `text`, which blanks separate?
bool has_word(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const std::string_view first = text.substr(0, text.find(' '));
    if (first == word) return true;
    text.remove_prefix(std::min(text.size(), first.size() + 1));
  }
  return false;
}

}  // namespace

MadeTags::MadeTags() {
  add_known("lowering");
  // Fragments ask for each section, whether a step before them splits the prologue off or not.
  for (const stripe::KnownTag& tag : stripe::known_tags())
    if (tag.places == stripe::TagPlaces::section) names_.emplace(tag.name);
}

void MadeTags::add_known(std::string_view by) {
  for (const stripe::KnownTag& tag : stripe::known_tags())
    if (has_word(tag.set_by, by)) (tag.is_family() ? families_ : names_).emplace(tag.name);
}

void MadeTags::add(const std::string& pass, const StepTags& tags) {
  add_known(pass);
  names_.insert(tags.set.begin(), tags.set.end());
}

bool MadeTags::holds(const std::string& tag) const {
  return any_ || names_.count(tag) > 0 ||
         std::any_of(families_.begin(), families_.end(),
                     [&](const std::string& family) { return tag.starts_with(family); });
}

}  // namespace stria
