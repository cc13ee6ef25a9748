// SPDX-License-Identifier: Apache-2.0
// Mutated programs: parse and bind answer, and what parses prints and parses again to the same.
#include <random>

#include "programs.h"
#include "stria/tile/syntax/print.h"

namespace stria::tile {
namespace {

std::string mutate(std::string text, std::mt19937& random) {
  static const char* const kPieces[] = {"(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        ";",
                                        ",",
                                        ":",
                                        "?",
                                        "+",
                                        "-",
                                        "*",
                                        "/",
                                        "<",
                                        ">",
                                        "==",
                                        "&&",
                                        "!",
                                        "default ",
                                        "A",
                                        "N",
                                        "i",
                                        "0",
                                        "99",
                                        "1.5",
                                        "9223372036854775807",
                                        "->",
                                        "#",
                                        "//",
                                        "\n",
                                        "'",
                                        "_",
                                        "function ",
                                        "\xE2\x88\x92",
                                        "[[",
                                        "]]",
                                        " = ",
                                        "B[j, i]",
                                        "2 i"};
  auto below = [&](size_t n) { return n == 0 ? size_t{0} : static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + below(4); edits > 0; --edits) {
    size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0: text.insert(at, kPieces[below(std::size(kPieces))]); break;
      case 1: text.erase(at, 1 + below(4)); break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 3: text.insert(at, text.substr(below(text.size() + 1), below(20))); break;
      case 4:
        text.replace(std::min(at, text.size()), 1 + below(3), kPieces[below(std::size(kPieces))]);
        break;
    }
  }
  return text;
}

TEST(Hostile, MutatedProgramsNeverCrash) {
  std::vector<std::string> seeds = grammar_programs();
  for (const auto& entry : house_programs()) seeds.push_back(entry.second);
  std::mt19937 random(7);
  size_t parsed = 0, bound = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string text = mutate(seeds[static_cast<size_t>(round) % seeds.size()], random);
    Result<Program> program = parse({"t", text});
    if (!program.ok()) {
      ASSERT_FALSE(program.status().message().empty());
      continue;
    }
    ++parsed;
    std::string once = print(*program);
    Result<Program> again = parse({"t", once});
    ASSERT_TRUE(again.ok()) << text << "\n" << once << "\n" << again.status().message();
    ASSERT_TRUE(*program == *again) << text << "\n" << once;
    Result<const Function*> entry = entry_function(*program, "");
    ASSERT_TRUE(entry.ok());
    Inputs inputs;
    for (const Parameter& p : (*entry)->parameters)
      inputs[p.name.text] = {static_cast<DataType>(random() % kDataTypeCount),
                             std::vector<int64_t>(p.has_dims ? p.dims.size() : random() % 3,
                                                  1 + static_cast<int64_t>(random() % 5))};
    Result<BoundProgram> result = bind_program(*program, "", inputs);
    if (result.ok()) ++bound;
  }
  // The mutations leave enough alive to reach every stage.
  EXPECT_GT(parsed, 1000u);
  EXPECT_GT(bound, 200u);
}

}  // namespace
}  // namespace stria::tile
