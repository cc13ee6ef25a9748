// SPDX-License-Identifier: Apache-2.0
// The made parts of sdk/guide/slots: the contract of each slot as stria/plugin.h has it.
#pragma once

#include <string>
#include <vector>

#include "stria/base/result.h"

namespace stria {

struct Slot {
  std::string table, name;
  std::string signature;          // as written, without indentation
  std::string contract;           // the comment, a paragraph
  std::vector<std::string> tags;  // "@threads any"
};
// Every slot of the header's tables, in its order. invalid_argument for a form that is not known.
Result<std::vector<Slot>> slots_of_header(const std::string& header);

// The page with its contract made anew.
Result<std::string> slot_page(const std::string& page, const Slot& slot);

// The list of all slots, for the guide.
std::string slots_table(const std::vector<Slot>& slots);

}  // namespace stria
