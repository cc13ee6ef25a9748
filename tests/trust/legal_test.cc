// SPDX-License-Identifier: Apache-2.0
// Generated legal programs: the verifier accepts each, text holds each, the interpreter runs each.
#include <gtest/gtest.h>

#include <iostream>

#include "coverage.h"
#include "known_intrinsics.h"
#include "legal_program.h"
#include "settings.h"
#include "stria/interp/program_values.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::trust {
namespace {

TEST(Legal, EveryProgramIsAcceptedPrintedReadAndRun) {
  const uint64_t first = number_from("STRIA_TRUST_SEED", 1);
  const uint64_t count = number_from("STRIA_TRUST_PROGRAMS", 500);
  Coverage coverage;
  const HardwareModel machine = small_machine();
  const auto units = machine.units();
  int64_t undecided = 0, accesses = 0, failures = 0, decided = 0, elements = 0;
  for (uint64_t seed = first; seed < first + count && failures < 5; ++seed) {
    const stripe::Program program = legal_program(seed);
    coverage.add(program);
    const std::string text = stripe::print(program);
    auto fail = [&](const std::string& what) {
      ++failures;
      ADD_FAILURE() << "STRIA_TRUST_SEED=" << seed << " STRIA_TRUST_PROGRAMS=1 legal_test\n"
                    << what << "\n"
                    << text;
    };
    stripe::VerifyOptions options;
    options.intrinsics = &known_intrinsics();
    options.units = &units;
    stripe::VerifyReport report;
    if (Status status = stripe::verify(program, options, &report); !status.ok()) {
      fail(status.to_string());
      continue;
    }
    undecided += report.unknown_accesses;
    accesses += report.accesses;
    auto read = stripe::parse({"printed", text});
    if (!read.ok() || !(*read == program)) {
      fail("does not read back");
      continue;
    }
    auto values = interp::run_on_random(program, seed);
    if (!values.ok()) {
      fail(values.status().to_string());
      continue;
    }
    for (const interp::Same same : {interp::Same::exact, interp::Same::within_bounds})
      if (const Refusal wrong = interp::difference(program, *values, same))
        fail("against its own values and bounds: " + wrong.reason());
    for (const interp::Reference& reference : values->expected)
      for (size_t i = 0; i < reference.size(); ++i) {
        ++elements;
        decided += !reference.undecided[i];
      }
  }
  std::cout << coverage.programs() << " programs from seed " << first << ", " << accesses
            << " accesses, " << undecided << " undecided; " << elements << " elements, "
            << elements - decided << " undecided\n"
            << coverage.to_string();
  EXPECT_LE(undecided * 1000, accesses) << "the verifier leaves too much open";
  EXPECT_LE((elements - decided) * 20, elements) << "too little is compared";
  if (count >= 500) {
    EXPECT_EQ(coverage.missing(wanted_features()), std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace stria::trust
