// SPDX-License-Identifier: Apache-2.0
// Pipelines that include fragments, and the former names of passes and options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"

namespace stria {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct CutOptions {
  int64_t size = 1;
  bool deep = false;
};

void describe(CutOptions& options, OptionFields& fields) {
  fields.add("size", options.size, "how much", {1, 9});
  fields.formerly("width");
  fields.add("deep", options.deep, "all of it");
  fields.retired("old", "nobody needs it");
}

Status cut(stripe::Program& program, const CutOptions& options, PassContext& context) {
  program.entry.tags.set(options.deep ? "deep" : "flat", options.size);
  context.changed();
  return {};
}

PassRegistry registry() {
  PassRegistry out({make_pass_info<CutOptions>("cut", "cuts", describe, cut)});
  out.passes[0].former_names = {{"slice", R"({"deep": true})"}, {"split", "{}"}};
  out.fragments = {
      {"two", {"core/two", R"([{"name": "a", "cut": {}}, {"name": "b", "cut": {"size": 2}}])"}},
      {"sized", {"core/sized", R"({% set SIZE = SIZE | default(3) | integer(1, 9) %}
          {"version": 1, "passes": [{"name": "sized", "cut": {"size": {{ SIZE }}}}]})"}},
      {"outer", {"core/outer", R"([{"include": "core/sized", "with": {"SIZE": 7}}])"}},
      {"endless", {"core/endless", R"([{"include": "core/endless"}])"}},
      {"many",
       {"core/many", "[" + join(std::vector<std::string>(101, R"({"cut": {}})"), ",") + "]"}},
      {"model", {"core/model", R"([{"cut": {"size": {{ hw.mem_units.DRAM.size_KiB }}}}])"}},
      {"strays", {"core/strays", R"([{"include": "mine"}])"}},
      {"broken", {"core/broken", R"([{"cut": {"size": 10}}])"}},
      {"none", {"core/none", "[]"}},
      {"torn", {"core/torn", "{% set X = "}},
      {"blind", {"core/blind", R"([{"cut": {"size": {{ SIZE }}}}])"}},
  };
  return out;
}

Result<Pipeline> parse(const PipelineSource& source, const TemplateSettings& settings = {}) {
  static const HardwareModel model =
      std::move(load_hardware_model({"m", R"({"mem_units": {"DRAM": {"size_KiB": 2}}})"})).value();
  return parse_pipeline(source, settings, model, registry());
}

Result<Pipeline> parse(const std::string& text) { return parse(PipelineSource("p.json", text)); }

std::string steps_of(const Result<Pipeline>& pipeline) {
  return pipeline.ok() ? pipeline->to_json(0, pipeline->steps.size())
                       : pipeline.status().to_string();
}

std::string fault_of(const std::string& text) {
  auto result = parse(text);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.status().message();
}

TEST(Fragments, TheirStepsStandInTheirPlace) {
  EXPECT_EQ(
      steps_of(parse(R"([{"name": "first", "cut": {}}, {"include": "core/two"}, {"cut": {}}])")),
      R"([{"cut":{},"name":"first"}, {"cut":{},"name":"a"}, {"cut":{"size":2},"name":"b"}, )"
      R"({"cut":{}}])");
}

TEST(Fragments, SeeTheModelAndWhatTheyAreGiven) {
  EXPECT_EQ(steps_of(parse(R"([{"include": "core/model"}])")), R"([{"cut":{"size":2}}])");
  EXPECT_EQ(steps_of(parse(R"([{"include": "core/sized"}])")),
            R"([{"cut":{"size":3},"name":"sized"}])");
  EXPECT_EQ(steps_of(parse(R"([{"include": "core/sized", "with": {"SIZE": 5}}])")),
            R"([{"cut":{"size":5},"name":"sized"}])");
  EXPECT_EQ(steps_of(parse(R"([{"include": "core/outer"}])")),
            R"([{"cut":{"size":7},"name":"sized"}])");
}

TEST(Fragments, DoNotSeeTheParametersOfTheFileAround) {
  const PipelineSource source("p.json", R"({% set SIZE = SIZE | default(4) | integer(1, 9) %}
      [{"include": "core/sized"}])");
  EXPECT_EQ(steps_of(parse(source, {{"SIZE", "6"}})), R"([{"cut":{"size":3},"name":"sized"}])");
  EXPECT_THAT(fault_of(R"({% set SIZE = 4 %}[{"include": "core/blind"}])"),
              HasSubstr("core/blind:1:22: error: 'SIZE' is not set"));
}

// A pipeline and its model can have the same name.
TEST(Fragments, AFaultSaysWhatTheModelHas) {
  EXPECT_THAT(
      fault_of(R"([{"cut": {"size": {{ hw.mem_units.NEAR.size_KiB }}}}])"),
      testing::AllOf(HasSubstr("p.json:1:22: error: 'hw.mem_units.NEAR.size_KiB' is not set: "
                               "'hw.mem_units' has 'DRAM'\n"),
                     testing::EndsWith("\nnote: 'hw' is the hardware model, m\n")));
  EXPECT_THAT(fault_of(R"([{"cut": {"size": {{ NEAR }}}}])"), Not(HasSubstr("note: 'hw'")));
}

TEST(Fragments, AreNamedOnceForProvenance) {
  auto pipeline = parse(R"([{"include": "core/model"}, {"include": "core/model"},
                            {"include": "core/outer"}])");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  std::vector<std::string> names;
  for (const SourceText& fragment : pipeline->fragments) names.push_back(fragment.name);
  EXPECT_THAT(names, ElementsAre("core/model", "core/outer", "core/sized"));
}

TEST(Fragments, AFaultNamesTheWay) {
  EXPECT_THAT(fault_of(R"([{"cut": {}}, {"include": "core/broken"}])"),
              testing::Eq("core/broken:1:11: error: /0/cut/size: 10 is outside 1 .. 9\n"
                          "  [{\"cut\": {\"size\": 10}}]\n"
                          "            ^~~~~~~~~\n"
                          "p.json:1:16: note: /1/include: is included here\n"
                          "  [{\"cut\": {}}, {\"include\": \"core/broken\"}]\n"
                          "                 ^~~~~~~~~~~~\n"));
  EXPECT_THAT(fault_of(R"([{"include": "core/too"}])"),
              HasSubstr("/0/include: core has no fragment 'core/too', did you mean 'core/two'?"));
  EXPECT_THAT(fault_of(R"([{"include": 3}])"),
              HasSubstr("/0/include: must be the name of a fragment, this is 3"));
  EXPECT_THAT(fault_of(R"([{"include": "core/two", "name": "x"}])"),
              HasSubstr("p.json:1:26: error: /0/name: unknown key: a step that includes others has "
                        "'include' and 'with'"));
  EXPECT_THAT(fault_of(R"([{"include": "core/sized", "with": {"SIZES": 1}}])"),
              HasSubstr("/0/with/SIZES: the fragment 'core/sized' has no such parameter, did you "
                        "mean 'SIZE'?"));
  EXPECT_THAT(fault_of(R"([{"include": "core/sized", "with": [1]}])"),
              HasSubstr("/0/with: must be an object of values, this is [1]"));
  EXPECT_THAT(fault_of(R"([{"include": "core/sized", "with": {"SIZE": 0}}])"),
              HasSubstr("'SIZE' is 0, which is not a whole number from 1 to 9"));
  EXPECT_THAT(fault_of(R"([{"include": "core/two"}, {"name": "b", "cut": {}}])"),
              HasSubstr("/1/name: 'b' is already the name of the step at core/two: /1/name"));
}

TEST(Fragments, DoNotGoOnForever) {
  EXPECT_THAT(fault_of(R"([{"include": "core/endless"}])"),
              HasSubstr("'core/endless' is included by more than 8 others"));
  const std::string many =
      "[" + join(std::vector<std::string>(100, R"({"include": "core/many"})"), ",") + "]";
  EXPECT_THAT(fault_of(many),
              HasSubstr("core/many:1:14: error: /1: a pipeline has at most 10000 steps"));
  const std::string none =
      "[" + join(std::vector<std::string>(2000, R"({"include": "core/none"})"), ",") + "]";
  EXPECT_THAT(fault_of(none),
              HasSubstr("/1000/include: a pipeline includes fragments at most 1000"));
  EXPECT_LT(fault_of("[{\"include\": \"core/" + std::string(50'000, 'x') + "\"}]").size(), 2000U);
}

// Editors read "file:line:column: error:".
TEST(Fragments, AFaultOfTheTextNamesTheFileOnce) {
  EXPECT_THAT(fault_of(R"([{"a" 1}])"), testing::StartsWith("p.json:1:7: error"));
  EXPECT_THAT(fault_of(R"([{"include": "core/torn", "with": {"X": 1}}])"),
              testing::StartsWith("core/torn:1:1: error"));
  EXPECT_THAT(fault_of(R"([{"include": "core/torn"}])"),
              testing::StartsWith("core/torn:1:1: error"));
}

class OwnFragments : public testing::Test {
 protected:
  OwnFragments() {
    std::filesystem::create_directories(folder_ / "passes");
    put("passes/mine.json", R"([{"name": "mine", "cut": {"size": 4}}, {"include": "core/two"}])");
    put("passes/nested.json", R"([{"include": "mine"}])");
    put("secret.json", R"([{"cut": {}}])");
  }
  ~OwnFragments() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_ / name, text).ok());
  }
  Result<Pipeline> including(const std::string& name) {
    const std::filesystem::path file = folder_ / "passes/p.json";
    return parse(PipelineSource(SourceText{file.string(), "[{\"include\": \"" + name + "\"}]"},
                                fragments_beside(file, kMaxJsonBytes)));
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("stria_fragments_" + std::to_string(::getpid()));
};

TEST_F(OwnFragments, LieBesideTheFile) {
  const char* const steps =
      R"([{"cut":{"size":4},"name":"mine"}, {"cut":{},"name":"a"}, {"cut":{"size":2},"name":"b"}])";
  EXPECT_EQ(steps_of(including("mine")), steps);
  EXPECT_EQ(steps_of(including("nested")), steps);
}

TEST_F(OwnFragments, AndNowhereElse) {
  for (const char* name : {"../secret", "/etc/passwd", "mine.json", "", ".", "..", "Mine", "a/b",
                           "core/../secret", "mi\\u0000ne"})
    EXPECT_FALSE(including(name).ok()) << name;
  EXPECT_THAT(including("../secret").status().message(),
              HasSubstr("'../secret' is no name of a fragment"));
  EXPECT_THAT(including("other").status().message(), HasSubstr("/passes/other.json"));
  EXPECT_THAT(including("core/strays").status().message(),
              HasSubstr("a fragment of core includes others of core alone"));
  EXPECT_THAT(fault_of(R"([{"include": "mine"}])"),
              HasSubstr("'mine' cannot be read: this pipeline is no file in a folder"));
}

TEST(FormerNames, OfPassesAreReadWithANote) {
  auto pipeline = parse(R"([{"name": "x", "slice": {"size": 2}}, {"split": {}}])");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  EXPECT_EQ(steps_of(pipeline), R"([{"cut":{"deep":true,"size":2},"name":"x"}, {"cut":{}}])");
  EXPECT_THAT(
      pipeline->notes,
      ElementsAre(
          "p.json:1:16: /0/slice: is now called 'cut' with {\"deep\": true}; the next release "
          "will not know the former name",
          HasSubstr("/1/split: is now called 'cut'; the next")));
  EXPECT_EQ(steps_of(parse(R"([{"slice": {"deep": false}}])")), R"([{"cut":{"deep":false}}])");
  EXPECT_THAT(fault_of(R"([{"slice": {"size": 0}}])"),
              HasSubstr("/0/slice/size: 0 is outside 1 .. 9"));
  EXPECT_THAT(fault_of(R"([{"slice": {}, "cut": {}}])"), HasSubstr("already has 'cut'"));
}

TEST(FormerNames, OfOptionsAreReadWithANote) {
  auto pipeline = parse(R"([{"cut": {"width": 2}}])");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  EXPECT_THAT(pipeline->notes, ElementsAre(HasSubstr("/0/cut/width: is now called 'size'")));
  EXPECT_THAT(fault_of(R"([{"cut": {"width": 2, "size": 2}}])"),
              HasSubstr("/0/cut/width: is the former name of 'size', which is given too"));
  EXPECT_THAT(fault_of(R"([{"cut": {"width": 0}}])"),
              HasSubstr("/0/cut/width: 0 is outside 1 .. 9"));
}

TEST(FormerNames, AreSaidOnceAndLeftBehind) {
  auto pipeline = parse(R"([{"cut": {"width": 2}}, {"slice": {}}, {"cut": {"width": 3}},
                            {"slice": {"old": [1]}}, {"cut": {"old": 1}}])");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  EXPECT_THAT(pipeline->notes,
              ElementsAre(HasSubstr("/0/cut/width"), HasSubstr("/1/slice"),
                          "p.json:2:40: /3/slice/old: is no option any more: nobody needs it"));
  EXPECT_EQ(steps_of(pipeline),
            R"([{"cut":{"size":2}}, {"cut":{"deep":true}}, {"cut":{"size":3}}, )"
            R"({"cut":{"deep":true}}, {"cut":{}}])");
}

TEST(FormerNames, TodaysNamesNeedNoNote) {
  auto pipeline = parse(R"([{"cut": {"size": 2}}])");
  ASSERT_TRUE(pipeline.ok());
  EXPECT_TRUE(pipeline->notes.empty());
}

// A pass may have been cut in two: its name stays with one half, and options tell the other.
TEST(FormerNames, AnOptionCanTellWhichPassAStepIsNow) {
  PassRegistry two = registry();
  two.passes.push_back(make_pass_info<CutOptions>("slit", "slits", describe, cut));
  two.passes[0].former_names = {{"slit", "{}", {"deep", "old"}}};
  const auto step = [&](const char* text) {
    auto pipeline = parse_pipeline({"p", text}, {}, empty_hardware_model(), two);
    STRIA_CHECK(pipeline.ok(), "{}", pipeline.status().to_string());
    return steps_of(pipeline) + (pipeline->notes.empty() ? "" : " " + pipeline->notes[0]);
  };
  EXPECT_EQ(step(R"([{"slit": {"size": 2}}])"), R"([{"slit":{"size":2}}])");
  EXPECT_EQ(
      step(R"([{"slit": {"deep": true}}])"),
      R"([{"cut":{"deep":true}}] p:1:3: /0/slit: is now the pass 'cut' where it has one of deep, old; )"
      "the next release will not read it so");
  EXPECT_EQ(step(R"([{"cut": {"deep": true}}])"), R"([{"cut":{"deep":true}}])");
}

TEST(FormerNames, StandForNoOtherPass) {
  std::set<std::string> names;
  for (const PassInfo& pass : passes::all_passes()) EXPECT_TRUE(names.insert(pass.name).second);
  for (const PassInfo& pass : passes::all_passes())
    for (const FormerPassName& former : pass.former_names)
      EXPECT_TRUE(names.insert(former.name).second != !former.with.empty()) << former.name;
}

TEST(FormerNames, OfCoresPassesBindTheirPresets) {
  const PassRegistry core = passes::pass_registry();
  for (const PassInfo& pass : core.passes)
    for (const FormerPassName& former : pass.former_names) {
      std::string options = "{}";
      if (!former.with.empty()) options = "{\"" + former.with[0] + "\": {}}";
      auto pipeline = parse_pipeline({"p", "[{\"" + former.name + "\": " + options + "}]"}, {},
                                     empty_hardware_model(), core);
      ASSERT_TRUE(pipeline.ok()) << former.name << ": " << pipeline.status().to_string();
      EXPECT_EQ(pipeline->steps[0].pass, pass.name);
      // Beside it may be said that nothing makes the tags that the pass requires.
      EXPECT_EQ(std::count_if(pipeline->notes.begin(), pipeline->notes.end(),
                              [](const std::string& note) {
                                return note.find(": is now ") != std::string::npos;
                              }),
                1);
    }
}

}  // namespace
}  // namespace stria
