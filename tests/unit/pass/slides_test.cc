// SPDX-License-Identifier: Apache-2.0
// Every pass configuration that the Stripe slides print, with the repairs that the design allows,
// against the slides' accelerator. The hardware models and settings among their fragments are
// tests/unit/hwmodel/slides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "stria/base/file.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

SourceText file_of(const std::string& path) {
  auto text = read_file(STRIA_SOURCE_DIR "/" + path);
  EXPECT_TRUE(text.ok()) << path;
  return {STRIA_SOURCE_DIR "/" + path, text.ok() ? *text : ""};
}

// What of the fragments no pass reads yet: pass -> options, or none if there is no such pass. Who
// adds one takes it from here; then the fragment must load.
const std::map<std::string, std::set<std::string>> kMissing = {};

TEST(Slides, EveryPassConfigurationLoads) {
  const TemplateSettings settings = {{"NUM_SRAM", "8"}, {"SRAM_SIZE_KIB", "512"}};
  auto model = load_hardware_model(file_of("hwmodels/templates/stripe_slides.json"), settings);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const std::vector<PassInfo> passes = passes::all_passes();
  size_t steps = 0;
  std::set<std::string> missing;
  for (const char* name : {"pipeline", "codesign", "tensorize", "autotile", "fusion"}) {
    const SourceText file = file_of(std::string("tests/unit/pass/slides/") + name + ".json");
    auto rendered = parse_json_template(file, settings_as_json(settings));
    ASSERT_TRUE(rendered.ok()) << rendered.status().to_string();
    for (const json& step : *rendered) {
      ++steps;
      for (auto it = step.begin(); it != step.end(); ++it) {
        if (it.key() == "name") continue;
        const bool there = std::any_of(passes.begin(), passes.end(),
                                       [&](const PassInfo& pass) { return pass.name == it.key(); });
        auto gap = kMissing.find(it.key());
        json options = *it;
        if (gap != kMissing.end()) {
          missing.insert(it.key());
          EXPECT_EQ(there, !gap->second.empty()) << it.key() << ": kMissing is out of date";
          if (!there) continue;
          for (const std::string& option : gap->second) options.erase(option);
        }
        auto pipeline =
            parse_pipeline({name, json::array({{{it.key(), options}}}).dump()}, {}, *model, passes);
        EXPECT_TRUE(pipeline.ok()) << name << ": " << pipeline.status().to_string();
        if (gap == kMissing.end()) continue;
        for (const std::string& option : gap->second) {
          json with = options;
          with[option] = (*it)[option];
          EXPECT_FALSE(
              parse_pipeline({name, json::array({{{it.key(), with}}}).dump()}, {}, *model, passes)
                  .ok())
              << it.key() << "/" << option << ": kMissing is out of date";
        }
      }
    }
  }
  EXPECT_EQ(steps, 21u);
  EXPECT_EQ(missing.size(), kMissing.size());
}

// What a fragment's template computes from the model's parameters.
TEST(Slides, TheScheduleOfABankHasItsShareOfTheSize) {
  auto rendered = parse_json_template(file_of("tests/unit/pass/slides/pipeline.json"),
                                      {{"NUM_SRAM", 8}, {"SRAM_SIZE_KIB", 512}});
  ASSERT_TRUE(rendered.ok()) << rendered.status().to_string();
  EXPECT_EQ((*rendered)[9]["schedule"]["mem_KiB"], 64);
  EXPECT_EQ((*rendered)[9]["schedule"]["num_banks"], 8);
}

// As the slides are copied, without the first repair.
TEST(Slides, TypographicQuotesAreRefusedWithAHint) {
  SourceText file = file_of("tests/unit/pass/slides/fusion.json");
  file.text.replace(file.text.find("\"a_reqs"), 1, "\u201D");
  auto rendered = parse_json_template(file, json::object());
  ASSERT_FALSE(rendered.ok());
  EXPECT_THAT(rendered.status().message(),
              testing::HasSubstr("fusion.json:3:42: error: typographic quotation mark; JSON needs "
                                 "the straight one"));
}

}  // namespace
}  // namespace stria
