// SPDX-License-Identifier: Apache-2.0
// Options that a step has for the sake of one of its options (OptionFields::one_of).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/pass/option_fields.h"

namespace stria {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Paint {
  bool dry = false;
  std::string color = "red";
  int64_t shade = 1;                  // of red
  int64_t depth = 2, shade_blue = 5;  // of blue
  std::vector<std::string> set;       // of blue
};

void describe(Paint& paint, OptionFields& fields) {
  fields.add("dry", paint.dry, "after it");
  fields.one_of("color", paint.color, "which",
                {{"red", "of brick",
                  [&](OptionFields& own) { own.add("shade", paint.shade, "how dark", {0, 9}); }},
                 {"blue", "of the sea", [&](OptionFields& own) {
                    own.add("shade", paint.shade_blue, "how pale", {0, 99});
                    own.add("depth", paint.depth, "in m");
                    own.formerly("fathoms");
                    own.set_tags("waves", paint.set, "tags that waves set");
                  }}});
}

std::string bind(const char* text, Paint& paint, std::vector<std::string>* notes = nullptr) {
  OptionFields fields;
  describe(paint, fields);
  const Status status = fields.bind(json::parse(text), "/0/paint", notes);
  return status.ok() ? "" : status.message();
}

TEST(Alternatives, OptionsAreThoseOfTheNameThatIsGiven) {
  Paint paint;
  EXPECT_EQ(bind(R"({"shade": 7})", paint), "");
  EXPECT_EQ(paint.shade, 7);
  paint = {};
  // The order of keys does not matter: "color" stands behind some of its options.
  EXPECT_EQ(bind(R"({"a": 0})", paint), "/0/paint/a: unknown option");
  EXPECT_EQ(bind(R"({"shade": 70, "color": "blue", "depth": 3, "dry": true})", paint), "");
  EXPECT_EQ(paint.shade_blue, 70);
  EXPECT_EQ(paint.depth, 3);
  EXPECT_EQ(paint.shade, 1);
  EXPECT_TRUE(paint.dry);
}

TEST(Alternatives, ThoseOfOthersAreRefusedByName) {
  Paint paint;
  EXPECT_EQ(bind(R"({"depth": 3})", paint),
            "/0/paint/depth: with the color 'red' there is no such option; blue has it");
  EXPECT_EQ(bind(R"({"color": "red", "fathoms": 3})", paint),
            "/0/paint/fathoms: with the color 'red' there is no such option; blue has it");
  EXPECT_EQ(bind(R"({"color": "blue", "deph": 3})", paint),
            "/0/paint/deph: unknown option, did you mean 'depth'?");
  EXPECT_THAT(bind(R"({"color": "bleu", "depth": 3})", paint),
              HasSubstr("/0/paint/color: 'bleu' is none of red, blue, did you mean 'blue'?"));
  EXPECT_THAT(bind(R"({"color": 3, "depth": 3})", paint), HasSubstr("/0/paint/color: must be a"));
  // Each has its own limits.
  paint = {};
  EXPECT_THAT(bind(R"({"shade": 70})", paint), HasSubstr("70 is outside 0 .. 9"));
}

TEST(Alternatives, FormerNamesAndTagsAreTheirsToo) {
  Paint paint;
  std::vector<std::string> notes;
  EXPECT_EQ(bind(R"({"color": "blue", "fathoms": 4, "waves": ["wet"]})", paint, &notes), "");
  EXPECT_EQ(paint.depth, 4);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("/0/paint/fathoms: is now called 'depth'"));
  OptionFields fields;
  describe(paint, fields);
  StepTags tags;
  fields.add_tags("", tags);
  EXPECT_THAT(tags.set, testing::ElementsAre("wet"));
  paint.color = "red";
  StepTags others;
  fields.add_tags("", others);
  EXPECT_TRUE(others.set.empty());
  json options = json::parse(R"({"color": "blue", "fathoms": 4, "none": 1})");
  fields.make_todays(options);
  EXPECT_EQ(options, json::parse(R"({"color": "blue", "depth": 4})"));
}

TEST(Alternatives, HelpListsThemBehindAllOthers) {
  Paint paint;
  OptionFields fields;
  describe(paint, fields);
  EXPECT_EQ(rows_as_text(fields.rows(), 2),
            "  dry: true or false, default false. after it\n"
            "  color: text, default \"red\"; one of red, blue. which\n"
            "  with color: \"red\": of brick\n"
            "    shade: integer, default 1; 0 to 9. how dark\n"
            "  with color: \"blue\": of the sea\n"
            "    shade: integer, default 5; 0 to 99. how pale\n"
            "    depth: integer, default 2. in m\n"
            "    waves: list of tags to set, default []. tags that waves set\n");
}

}  // namespace
}  // namespace stria
