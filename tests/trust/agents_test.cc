// SPDX-License-Identifier: Apache-2.0
// Generated programs of agents: legal, held by text, and right under every interleaving that is
// tried. Without one of their waits or arrivals each is wrong, and that is found.
#include <gtest/gtest.h>

#include <iostream>

#include "known_intrinsics.h"
#include "legal_agents.h"
#include "legal_program.h"
#include "settings.h"
#include "stria/interp/explore.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::trust {
namespace {

Status verified(const stripe::Program& program) {
  static const HardwareModel machine = small_machine();
  static const auto units = machine.units();
  stripe::VerifyOptions options;
  options.intrinsics = &known_intrinsics();
  options.units = &units;
  stripe::VerifyReport report;
  STRIA_RETURN_IF_ERROR(stripe::verify(program, options, &report));
  return report.warnings.empty() ? Status() : invalid_argument("{}", report.warnings[0]);
}

TEST(Agents, AreRightUnderEveryInterleaving) {
  const uint64_t first = number_from("STRIA_TRUST_SEED", 1);
  const uint64_t count = number_from("STRIA_TRUST_PROGRAMS", 150);
  int64_t runs = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const AgentsProgram made = agents_program(seed);
    const auto program = stripe::parse({"agents", made.text});
    ASSERT_TRUE(program.ok()) << seed << ": " << program.status().to_string() << "\n" << made.text;
    const Status legal = verified(*program);
    ASSERT_TRUE(legal.ok()) << seed << ": " << legal.to_string() << "\n" << made.text;
    const auto read = stripe::parse({"printed", stripe::print(*program)});
    ASSERT_TRUE(read.ok() && *read == *program) << made.text;
    const auto found = interp::explore(*program, 20, seed);
    ASSERT_TRUE(found.ok()) << seed << ": " << found.status().to_string() << "\n" << made.text;
    ASSERT_FALSE(found->failing) << seed << ", " << found->failing->text() << ": "
                                 << found->failure.message() << "\n"
                                 << made.text;
    runs += found->runs;
  }
  std::cout << count << " programs from seed " << first << ", " << runs << " runs\n";
}

// The n-th wait or arrival of the text: where it begins; npos if there are fewer.
size_t meeting(const std::string& text, int n) {
  size_t at = 0;
  for (int i = -1; i < n && at != std::string::npos; ++i)
    at = std::min(text.find("special wait(", at + 1), text.find("special arrive(", at + 1));
  return at;
}

TEST(Agents, WithoutAWaitOrAnArrivalAreFoundWrong) {
  const uint64_t first = number_from("STRIA_TRUST_SEED", 1);
  const uint64_t count = number_from("STRIA_TRUST_PROGRAMS", 150) / 3;
  int64_t planted = 0, races = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const AgentsProgram made = agents_program(seed);
    for (int n = 0;; ++n) {
      std::string text = made.text;
      const size_t at = meeting(text, n);
      if (at == std::string::npos) break;
      const std::string was = text.substr(at, text.find('\n', at) - at);
      // A ring that is filled once is free from the beginning, and given back to nobody.
      if (made.turns == 1 && was.find("free") != std::string::npos) continue;
      text.replace(at, was.size(), "special barrier()");
      const auto program = stripe::parse({"agents", text});
      ASSERT_TRUE(program.ok()) << program.status().to_string();
      if (!verified(*program).ok()) continue;
      const auto found = interp::explore(*program, 100, seed);
      ASSERT_TRUE(found.ok()) << found.status().to_string();
      EXPECT_TRUE(found->failing) << seed << ", without " << was << "\n" << text;
      ++planted;
      races += found->failure.message().starts_with("race");
    }
  }
  std::cout << planted << " faults, " << races << " of them told as races\n";
}

}  // namespace
}  // namespace stria::trust
