// SPDX-License-Identifier: Apache-2.0
// How long cases may take.
#include <gtest/gtest.h>

#include <filesystem>

#include "suite/all_cases.h"
#include "suite/batches.h"

namespace stria::conformance {
namespace {

// What a case has begun is waited for in the end of its process: so that has as much time.
TEST(Limits, TheEndOfAGroupHasTheTimeOfItsCases) {
  const auto all =
      all_cases(std::filesystem::path(STRIA_BINARY_DIR) / "lib/stria/plugins/reference");
  int ends = 0;
  for (const Case& end : all) {
    if (end.name != end_of_group(end.group())) continue;
    ++ends;
    for (const Case& c : all)
      if (c.group() == end.group() && c.place == Place::shared) {
        EXPECT_LE(c.limit, end.limit) << c.name << " and " << end.name;
        EXPECT_LE(end.level, c.level) << c.name << " and " << end.name;
      }
  }
  EXPECT_GE(ends, 5);
}

}  // namespace
}  // namespace stria::conformance
