// SPDX-License-Identifier: Apache-2.0
// The names of identifiers in an emitted source text. There are four owners, told apart by how a
// name begins, so that no name of one can be a name of another:
//   v_…                what a program names: its tensors, arrays, indices and values
//   k<number>_…        the functions that are its kernels
//   stria_…, STRIA_…   ours: helper functions, types, macros, temporaries
//   everything else    the language, its library and its headers. A language of the C family
//                      reserves words, names with "__", names with "_" and a capital first, and
//                      those of its library. None of these begins in one of our ways
// The rules hold for every language. A dialect whose own text breaks them is refused.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "stria/semtree/c/dialect.h"

namespace stria::semtree {

// How many characters of a name a compiler of C must tell apart.
inline constexpr size_t kLongestIdentifier = 63;

// The names of one kernel.
class SourceNames {
 public:
  // A new identifier for what the program calls `name`; another one with each call.
  std::string of_program(std::string_view name);
  // A temporary of ours, likewise.
  std::string of_temporary();

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // number to try for names that are cut to the same
  int temporaries_ = 0;
};

// The name of what belongs to the identifier `of` that SourceNames gave: "stria_base_A" for "v_A".
std::string own_name(std::string_view what, std::string_view of);

// "k3_conv": the number keeps kernels apart, the rest is for people who read profiles.
std::string kernel_symbol(size_t number, std::string_view name);

// internal if the dialect's own text has an identifier that the program, a kernel or the printer
// may use; names the first one.
Status check_names(const Dialect& dialect);

// Text of a `//` comment: no character of it can end or continue the line's comment.
std::string comment_text(std::string_view text);

}  // namespace stria::semtree
