// SPDX-License-Identifier: Apache-2.0
// What identifiers of an emitted source text are called. There are four owners, told apart by how a
// name begins, so that no name of one can be a name of another:
//   v_…                what a program names: its tensors, arrays, indices and values
//   k<number>_…        the functions that are its kernels
//   stria_…, STRIA_…   ours: helper functions, types, macros, temporaries
//   everything else    the language, its library and its headers: a language of the C family
//                      reserves words of its own, names with "__", with "_" and a capital first,
//                      and those of its library, of which none begins in one of these ways
// Every language is printed by these rules: a dialect whose own text breaks them is refused.
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
  // An identifier for what the program calls `name`, another one with each call.
  std::string of_program(std::string_view name);
  // A temporary of ours, likewise.
  std::string of_temporary();

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // number to try for names that are cut to the same
  int temporaries_ = 0;
};

// What belongs to the identifier `of` that SourceNames gave: "stria_base_A" of "v_A". One for each.
std::string own_name(std::string_view what, std::string_view of);

// "k3_conv": the number keeps kernels apart, the rest is for people who read profiles.
std::string kernel_symbol(size_t number, std::string_view name);

// internal, naming the first identifier in the dialect's own text that the program, a kernel or the
// printer may use.
Status check_names(const Dialect& dialect);

// Text of a `//` comment: no character of it can end or continue the line's comment.
std::string comment_text(std::string_view text);

}  // namespace stria::semtree
