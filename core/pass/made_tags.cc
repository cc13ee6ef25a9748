// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/made_tags.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/stripe/tags.h"

namespace stria {

MadeTags::MadeTags() {
  add_known("lowering");
  // Fragments ask for each section, whether a step before them splits the prologue off or not.
  for (const stripe::KnownTag& tag : stripe::known_tags())
    if (tag.places == stripe::TagPlaces::section) names_.emplace(tag.name);
}

void MadeTags::add_known(std::string_view by) {
  for (const stripe::KnownTag& tag : stripe::known_tags()) {
    const std::vector<std::string> makers = split(tag.set_by, ' ');
    if (std::find(makers.begin(), makers.end(), by) == makers.end()) continue;
    (tag.is_family() ? families_ : names_).emplace(tag.name);
  }
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
