// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/inline/library.h"

#include <algorithm>
#include <string>

#include "stria/builtins/composite.h"
#include "stria/tile/syntax/parser.h"

namespace stria::tile {
namespace {

// Parsed once, by whichever thread comes first.
const Program& library() {
  static const Program program = [] {
    std::string text;
    for (const Composite* composite : all_composites()) text += composite->tile;
    Result<Program> parsed = parse({"library", std::move(text)});
    STRIA_CHECK(parsed.ok(), "{}", parsed.status().message());
    return std::move(parsed).value();
  }();
  return program;
}

}  // namespace

const Function* library_function(std::string_view name) {
  if (find_composite(name) == nullptr) return nullptr;
  for (const Function& function : library().functions)
    if (function.name.text == name) return &function;
  return nullptr;
}

bool is_library_function(const Function* function) {
  const std::vector<Function>& all = library().functions;
  return std::any_of(all.begin(), all.end(), [&](const Function& f) { return &f == function; });
}

}  // namespace stria::tile
