// SPDX-License-Identifier: Apache-2.0
// The table of tags says which passes set a tag: no golden test of a pass shows another one.
#include <gtest/gtest.h>

#include <set>

#include "golden_programs.h"
#include "stria/base/text.h"
#include "stria/stripe/tags.h"

namespace stria::tags {
namespace {

std::set<std::string> tags_of(stripe::Program& program) {
  std::set<std::string> out;
  visit_tags(program.entry, [&](const stripe::Tags& tags) {
    for (const stripe::Tag& tag : tags.all()) out.insert(tag.name);
  });
  return out;
}

TEST(Tags, APassThatSetsOneStandsInItsEntry) {
  int seen = 0;
  for (GoldenTest& test : golden_tests()) {
    // A pipeline in a file of its own runs many passes.
    if (!test.name.starts_with("passes/") || !test.input || !test.output ||
        test.run.find("pipeline=") != std::string::npos)
      continue;
    const std::set<std::string> before = tags_of(*test.input);
    for (const std::string& name : tags_of(*test.output)) {
      const stripe::KnownTag* tag = stripe::known_tag(name);
      if (!tag || before.count(name) || test.run.find("\"" + name + "\"") != std::string::npos)
        continue;
      ++seen;
      bool said = false;
      for (const std::string& by : split(tag->set_by, ' '))
        said = said || test.run.find("\"" + by + "\"") != std::string::npos;
      EXPECT_TRUE(said) << test.name << ": #" << name << " is set by none of '" << tag->set_by
                        << "'";
    }
  }
  EXPECT_GT(seen, 300);
}

}  // namespace
}  // namespace stria::tags
