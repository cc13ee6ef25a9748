// SPDX-License-Identifier: Apache-2.0
// Texts in options: what a program's text cannot hold, and tags that mean something, are refused
// when a pipeline is read, with the JSON path, the value and what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/lexer.h"

namespace stria {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// "" or why the options are refused.
std::string refused(const std::string& pass, const json& options) {
  for (const PassInfo& info : passes::all_passes()) {
    if (info.name != pass) continue;
    const auto bound = info.bind(options, "/0/" + pass, nullptr);
    return bound.ok() ? "" : std::string(bound.status().message());
  }
  ADD_FAILURE() << "no pass " << pass;
  return "";
}

TEST(OptionTexts, TagsThatCannotBeWrittenAreRefused) {
  for (const char* text : {"", " ", "two words", "a b", "x-y", "#a", "a\n", "\xc3\xa9", "3d"}) {
    for (const char* option : {"reqs", "exclude", "outer_set", "inner_set"})
      EXPECT_THAT(refused("autotile", {{option, {"a", text}}}),
                  AllOf(HasSubstr(std::string("/0/autotile/") + option + "/1: '"),
                        HasSubstr("is not a tag, which is a letter or '_' and then letters")))
          << "'" << text << "'";
  }
  EXPECT_EQ(refused("autotile", {{"reqs", {"main", "vector"}}, {"outer_set", {"made", "x'"}}}), "");
}

TEST(OptionTexts, NoOptionSetsATagThatMeansSomething) {
  for (const stripe::KnownTag& tag : stripe::known_tags()) {
    if (!tag.is_reserved()) {  // a mark is for pipelines too
      EXPECT_EQ(refused("autotile", {{"outer_set", {std::string(tag.name)}}}), "") << tag.name;
      continue;
    }
    EXPECT_THAT(
        refused("autotile", {{"outer_set", {std::string(tag.name)}}}),
        AllOf(HasSubstr("/0/autotile/outer_set/0: '" + std::string(tag.name) + "' says of "),
              HasSubstr(std::string(tag.meaning)),
              HasSubstr("allowed are tags that mean nothing by themselves")));
    EXPECT_EQ(refused("autotile", {{"reqs", {std::string(tag.name)}}}), "");
  }
  EXPECT_THAT(refused("fusion", {{"inner_remove_set", {"parallel"}}}),
              HasSubstr("'parallel' says"));
  EXPECT_THAT(refused("unroll", {{"part_name", "stencil_m"}}), HasSubstr("says of an index"));
  // Options that are made for one.
  EXPECT_EQ(refused("partition_compute", {{"set_tags", {"parallel", "parts"}}}), "");
  EXPECT_THAT(refused("partition_compute", {{"set_tags", {"vector"}}}),
              HasSubstr("by themselves, and parallel, parts"));
  EXPECT_EQ(refused("cache", {{"copy_set", {"copy"}}}), "");
}

TEST(OptionTexts, UnitsAndIndicesAreNames) {
  EXPECT_THAT(refused("thread", {{"unit", ""}}), HasSubstr("/0/thread/unit: '' is not a name"));
  EXPECT_THAT(refused("thread_lanes", {{"registers", "two words"}}),
              HasSubstr("/0/thread_lanes/registers: "));
  EXPECT_EQ(refused("vectorize", {{"accumulator", ""}}), "");
  EXPECT_THAT(refused("locate_block", {{"loc", {{"name", "A B"}}}}),
              HasSubstr("/0/locate_block/loc/name: 'A B' is not the name of a unit"));
  EXPECT_EQ(refused("locate_block", {{"where", {{"name", "*"}}}}), "");
  EXPECT_THAT(refused("tile", {{"tile_sizes", {{"", 2}}}}),
              HasSubstr("is not an index, or '#'"));
  EXPECT_EQ(refused("tile", {{"tile_sizes", {{"x", 2}, {"#part", 3}}}}), "");
  EXPECT_EQ(refused("unroll", {{"expand_idx", ""}}), "");
  EXPECT_THAT(refused("unroll", {{"expand_idx", "#"}}),
              HasSubstr("/0/unroll/expand_idx: '#' is not"));
}

// Every option of every pass that ends up in a program's text or looks for something there says so
// in its table: a new pass that adds a plain text for a tag shows here.
TEST(OptionTexts, NoPassTakesFreeTextForWhatStandsInPrograms) {
  for (const PassInfo& pass : passes::all_passes())
    for (const OptionRow& row : pass.options())
      if (row.kind == "list of texts" ||
          (row.kind == "text" && !row.limits.starts_with("one of "))) {
        EXPECT_TRUE(row.name == "functions" || row.name == "roles" ||
                    (pass.name == "tensorize" && row.name == "name"))
            << pass.name << ": " << row.name;
      }
}

}  // namespace
}  // namespace stria
