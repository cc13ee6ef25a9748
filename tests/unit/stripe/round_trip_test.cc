// SPDX-License-Identifier: Apache-2.0
// parse(print(x)) == x on random programs, and no crash, hang or lost message on damaged text.
#include <gtest/gtest.h>

#include <random>

#include "random_program.h"
#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::stripe {
namespace {

TEST(RoundTrip, RandomProgramsReadBackEqual) {
  size_t bytes = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Program program = random_program(seed);
    std::string text = print(program);
    bytes += text.size();
    Result<Program> again = parse({"printed", text});
    ASSERT_TRUE(again.ok()) << "seed " << seed << "\n" << again.status().message();
    ASSERT_EQ(print(*again), text) << "seed " << seed;
    ASSERT_TRUE(*again == program) << "seed " << seed << "\n" << text;
  }
  EXPECT_GT(bytes, 1000u * 1000u) << "the programs are too small to show anything";
}

TEST(RoundTrip, RandomProgramsAreRefusedByTheVerifierWithoutCrash) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Program program = random_program(seed);
    Status status = verify(program);
    EXPECT_FALSE(status.ok()) << "seed " << seed;
    // The same with the frame of a program, so that more rules are reached.
    Program framed;
    framed.entry.tags = {"program"};
    Block main = program.entry;
    main.idxs.clear();
    main.tags = {"main"};
    framed.entry.stmts.push_back(std::move(main));
    (void)verify(framed);
  }
}

// One random edit: a byte, a cut, a doubled piece, a piece of another text, a number blown up.
std::string damaged(std::string text, std::mt19937_64& random) {
  auto below = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); };
  for (size_t edits = 1 + below(3); edits > 0; --edits) {
    size_t at = below(text.size() + 1);
    size_t length = std::min(below(40), text.size() - at);
    switch (below(6)) {
      case 0: text.insert(at, 1, static_cast<char>(below(256))); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(below(text.size() + 1), text.substr(at, length)); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, "99999999999999999999"); break;
      default:
        if (at < text.size()) text[at] = "{}[]()<>:;,=+-*/#$\"\\0a\n"[below(24)];
    }
  }
  return text;
}

TEST(RoundTrip, DamagedTextIsReadOrRefusedNeverCrashes) {
  std::mt19937_64 random(1);
  std::string top =
      read_file(std::string(STRIA_SOURCE_DIR) + "/tests/golden/stripe/stripe_top.stripe").value();
  std::vector<std::string> texts;
  for (uint64_t seed = 0; texts.size() < 50; ++seed) {
    std::string text = print(random_program(seed));
    if (text.size() < 4000) texts.push_back(std::move(text));
  }
  int read = 0, refused = 0, verified = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string text =
        damaged(i % 2 ? top : texts[static_cast<size_t>(i / 2) % texts.size()], random);
    Result<Program> program = parse({"damaged", text});
    if (!program.ok()) {
      ++refused;
      ASSERT_FALSE(program.status().message().empty()) << text;
      continue;
    }
    ++read;
    std::string printed = print(*program);
    Result<Program> again = parse({"printed", printed});
    ASSERT_TRUE(again.ok()) << again.status().message() << "\nof\n" << text;
    ASSERT_EQ(print(*again), printed) << "of\n" << text;
    verified += verify(*program).ok();
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
  EXPECT_GT(verified, 50);
}

}  // namespace
}  // namespace stria::stripe
