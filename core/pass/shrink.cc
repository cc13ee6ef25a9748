// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/shrink.h"

#include <cctype>
#include <set>
#include <string>
#include <tuple>

#include "stria/pass/shrink_edits.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

// Words and numbers, the sum of the numbers, bytes.
using Size = std::tuple<size_t, double, size_t>;

Size size_of(const std::string& text) {
  size_t words = 0;
  double sum = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!std::isalnum(c)) continue;
    ++words;
    size_t end = i;
    double number = 0;
    bool digits = true;
    for (; end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_');
         ++end) {
      digits = digits && text[end] >= '0' && text[end] <= '9';
      number = number * 10 + (text[end] - '0');
    }
    if (digits) sum += number;
    i = end;
  }
  return {words, sum, text.size()};
}

}  // namespace

stripe::Program shrink(stripe::Program program,
                       const std::function<bool(const stripe::Program&)>& fails,
                       const ShrinkOptions& options, ShrinkReport* report) {
  ShrinkReport unused;
  ShrinkReport& done = report ? *report : unused;
  done = {};
  const std::vector<EditKind> kinds = all_edit_kinds();
  std::set<std::string> seen;
  std::string text = stripe::print(program);
  Size size = size_of(text);
  auto ends = [&] { return done.tried >= options.max_tries || (options.stop && options.stop()); };
  for (bool changed = true; changed;) {
    changed = false;
    for (const EditKind& kind : kinds)
      for (const Edit& edit : kind(program)) {
        stripe::Program candidate = program;
        if (!edit(candidate)) continue;
        drop_dangling(candidate);
        std::string candidate_text = stripe::print(candidate);
        const Size candidate_size = size_of(candidate_text);
        if (!(candidate_size < size) || !seen.insert(candidate_text).second) continue;
        if (ends()) return program;
        ++done.tried;
        if (!fails(candidate)) continue;
        ++done.kept;
        changed = true;
        program = std::move(candidate);
        size = candidate_size;
      }
  }
  done.complete = true;
  return program;
}

}  // namespace stria
