// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"

namespace stria {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct MarkOptions {
  std::string tag = "marked";
  int64_t times = 1;
  std::vector<int64_t> list;
  std::string mode = "one";
  bool fail = false;
  int64_t inner = 5;
};

void describe(MarkOptions& options, OptionFields& fields) {
  fields.add("tag", options.tag, "tag to set");
  fields.add("times", options.times, "how often", {1, 9});
  fields.add("list", options.list, "numbers");
  fields.add("mode", options.mode, "how", std::vector<std::string>{"one", "two"});
  fields.add("fail", options.fail, "fail");
  fields.group("group", "more").add("inner", options.inner, "a number inside");
}

Status mark(stripe::Program& program, const MarkOptions& options, PassContext& context) {
  if (options.fail) return invalid_argument("told to fail");
  context.matched();
  program.entry.tags.set(options.tag, options.times + options.inner);
  context.changed();
  context.count("marks", options.times);
  return {};
}

std::vector<PassInfo> test_passes() {
  return {make_pass_info<MarkOptions>("mark", "sets a tag", describe, mark)};
}

Result<Pipeline> pipeline(const std::string& text, const TemplateSettings& settings = {}) {
  static const HardwareModel model =
      std::move(load_hardware_model({"m", R"({"mem_units": {"DRAM": {"size_KiB": 2}}})"})).value();
  return parse_pipeline({"p.json", text}, settings, model, test_passes());
}

std::string failure(const std::string& text) {
  auto result = pipeline(text);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.status().message();
}

TEST(Pipeline, BothFormsAndTemplatesLoad) {
  auto bare = pipeline(
      R"([{"name": "first", "mark": {"tag": "a"}}, {"mark": {"times": {{ N / 2 }}, "list": [1, 2]}}])",
      {{"N", "8"}});
  ASSERT_TRUE(bare.ok()) << bare.status().to_string();
  ASSERT_EQ(bare->steps.size(), 2u);
  EXPECT_EQ(bare->steps[0].name, "first");
  EXPECT_EQ(bare->steps[1].name, "mark");
  auto full = pipeline(
      R"({"version": 1, "passes": [{"mark": {"times": {{ hw.mem_units.DRAM.size_KiB }} }}]})");
  EXPECT_TRUE(full.ok()) << full.status().to_string();
  EXPECT_TRUE(pipeline("[]").ok());
  // A pass may run often under its own name.
  EXPECT_TRUE(pipeline(R"([{"mark": {}}, {"mark": {}}])").ok());
}

TEST(Pipeline, MistakesNameTheJsonPathAndTheNearestName) {
  EXPECT_THAT(failure(R"([{"marc": {}}])"),
              HasSubstr("p.json:1:3: error: /0/marc: unknown pass, did you mean 'mark'?"));
  EXPECT_THAT(failure(R"({"version": 1, "passes": [{"mark": {"tga": 1}}]})"),
              HasSubstr("/passes/0/mark/tga: unknown option, did you mean 'tag'?"));
  EXPECT_THAT(failure(R"([{"mark": {"tag": 1}}])"),
              HasSubstr("/0/mark/tag: must be a string, this is 1"));
  EXPECT_THAT(failure(R"([{"mark": {"times": 10}}])"),
              HasSubstr("/0/mark/times: 10 is outside 1 .. 9"));
  EXPECT_THAT(failure(R"([{"mark": {"times": 1.5}}])"), HasSubstr("must be an integer"));
  EXPECT_THAT(failure(R"([{"mark": {"times": 1e30}}])"), HasSubstr("must be an integer"));
  EXPECT_THAT(failure(R"([{"mark": {"list": [1, "x"]}}])"),
              HasSubstr("/0/mark/list/1: must be an integer"));
  EXPECT_THAT(failure(R"([{"mark": {"mode": "tow"}}])"),
              HasSubstr("none of one, two, did you mean 'two'?"));
  EXPECT_THAT(failure(R"([{"mark": {"group": {"iner": 1}}}])"), HasSubstr("/0/mark/group/iner"));
  EXPECT_THAT(failure(R"([{"mark": 3}])"), HasSubstr("must be an object of options"));
  EXPECT_THAT(failure(R"([{"name": "x"}])"), HasSubstr("/0: this step names no pass"));
  EXPECT_THAT(failure(R"([{"mark": {}, "name": 3}])"), HasSubstr("/0/name: must be a string"));
  EXPECT_THAT(failure(R"([{"mark": {}, "name": ""}])"), HasSubstr("/0/name: must not be empty"));
  EXPECT_THAT(failure(R"([{"name": "a", "mark": {}}, {"mark": {}}, {"name": "a", "mark": {}}])"),
              HasSubstr("p.json:1:44: error: /2/name: 'a' is already the name of the step at "
                        "/0/name"));
  // What else a step has is no less likely to be meant than a pass; whichever comes first.
  EXPECT_THAT(failure(R"([{"nmae": "a", "mark": {}}])"), HasSubstr("did you mean 'name'?"));
  EXPECT_THAT(failure(R"([{"zname": "a", "mark": {}}])"),
              HasSubstr("/0/zname: unknown pass, did you mean 'name'?"));
  EXPECT_THAT(failure(R"([{"includ": "core/x"}])"), HasSubstr("did you mean 'include'?"));
  // The line that a template's loop has made.
  EXPECT_THAT(failure("[\n{% for i in range(2) %}\n  {\"mark\": {\"times\": {{ 9 * (i + 1) }}}},\n"
                      "{% endfor %}\n]"),
              testing::StartsWith("p.json:3:13: error: /1/mark/times: 18 is outside 1 .. 9\n"));
  EXPECT_THAT(failure(R"([3])"), HasSubstr("/0: a step is"));
  EXPECT_THAT(failure(R"({"passes": []})"), HasSubstr("/version: must be 1"));
  EXPECT_THAT(failure(R"({"version": 2, "passes": []})"), HasSubstr("/version: must be 1"));
  EXPECT_THAT(failure(R"({"version": 1})"), HasSubstr("/passes: is missing"));
  EXPECT_THAT(failure(R"({"version": 1, "pass": []})"), HasSubstr("did you mean 'passes'?"));
  EXPECT_THAT(failure("3"), HasSubstr("must be a list of steps"));
}

TEST(Pipeline, RunsReportsAndStops) {
  auto steps = pipeline(
      R"([{"name": "a", "mark": {"tag": "x"}}, {"name": "b", "mark": {"tag": "y", "times": 2}}])");
  ASSERT_TRUE(steps.ok());
  HardwareModel model = empty_hardware_model();
  stripe::Program program;
  std::vector<std::string> seen;
  PipelineOptions options;
  options.verify_each = false;
  options.after_step = [&](int position, const StepReport& report, const stripe::Program& now) {
    seen.push_back(
        fmt::format("{} {} {}", position, report.to_string(), now.entry.tags.all().size()));
  };
  auto reports = run_pipeline(program, *steps, model, options);
  ASSERT_TRUE(reports.ok());
  EXPECT_THAT(seen, ElementsAre("0 a (mark): 1 matched, 1 changed; marks 1 1",
                                "1 b (mark): 1 matched, 1 changed; marks 2 2"));
  EXPECT_EQ(program.entry.tags.integer("y"), 7);

  stripe::Program stopped;
  options.stop_after = "a";
  ASSERT_TRUE(run_pipeline(stopped, *steps, model, options).ok());
  EXPECT_TRUE(stopped.entry.tags.has("x"));
  EXPECT_FALSE(stopped.entry.tags.has("y"));
  options.stop_after = "c";
  auto none = run_pipeline(stopped, *steps, model, options);
  EXPECT_EQ(none.status().code(), StatusCode::not_found);
}

TEST(Pipeline, AFailureNamesTheStep) {
  auto steps = pipeline(R"([{"name": "bad", "mark": {"fail": true}}])");
  ASSERT_TRUE(steps.ok());
  HardwareModel model = empty_hardware_model();
  stripe::Program program;
  PipelineOptions options;
  options.verify_each = false;
  auto result = run_pipeline(program, *steps, model, options);
  EXPECT_THAT(result.status().message(),
              testing::Eq("p.json:1:18: step 'bad' (mark): told to fail"));
}

TEST(Pipeline, VerifyEachNamesTheStepThatMadeAnIllegalProgram) {
  auto program =
      stripe::parse({"p", "0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n  }\n}\n"});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::vector<PassInfo> passes = test_passes();
  passes.push_back(
      make_pass_info<MarkOptions>("break", "adds a view of nothing", describe,
                                  [](stripe::Program& p, const MarkOptions&, PassContext&) {
                                    stripe::Refinement ref;
                                    ref.dir = stripe::RefDir::in;
                                    ref.from = ref.into = "Nothing";
                                    p.main()->refs.push_back(ref);
                                    return Status();
                                  }));
  HardwareModel model = empty_hardware_model();
  auto steps = parse_pipeline({"p.json", R"([{"mark": {}}, {"name": "bad", "break": {}}])"}, {},
                              model, passes);
  ASSERT_TRUE(steps.ok());
  PipelineOptions options;
  options.verify_each = true;
  auto result = run_pipeline(*program, *steps, model, options);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(),
              HasSubstr("the program that step 'bad' (break) made is not legal"));
  EXPECT_EQ(result.status().code(), StatusCode::internal);
  EXPECT_THAT(result.status().message(), HasSubstr("Nothing"));
}

TEST(Pipeline, AFailureIsToldWithTheProgramBeforeTheStep) {
  auto steps = pipeline(
      R"([{"name": "a", "mark": {"tag": "x"}}, {"name": "b", "mark": {"tag": "{{ "y" }}", "fail": true}}])");
  ASSERT_TRUE(steps.ok());
  HardwareModel model = empty_hardware_model();
  stripe::Program program;
  PipelineOptions options;
  options.verify_each = false;
  int failures = 0;
  options.on_failure = [&](size_t step, const stripe::Program& before, const Status& failure) {
    ++failures;
    EXPECT_EQ(step, 1u);
    EXPECT_TRUE(before.entry.tags.has("x"));
    EXPECT_THAT(failure.message(), HasSubstr("told to fail"));
    EXPECT_EQ(steps->to_json(step, step + 1), R"([{"mark":{"fail":true,"tag":"y"},"name":"b"}])");
  };
  EXPECT_FALSE(run_pipeline(program, *steps, model, options).ok());
  EXPECT_EQ(failures, 1);
}

TEST(Pipeline, UnknownIntrinsicsAreSeen) {
  auto program = stripe::parse({"p", R"(stripe 1.0
0: #program block [] (
    none new@0x00000000 A[0] fp32(1:1)
) {
  0: #main block [] (
      inout A[0] fp32(1:1)
  ) {
    0: $a = load(A)
    1: $b = frobnicate.fp32($a)
    2: A = store($b)
  }
}
)"});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  auto steps = pipeline(R"([{"mark": {}}])");
  HardwareModel model = empty_hardware_model();
  PipelineOptions options;
  options.verify_each = true;
  EXPECT_TRUE(run_pipeline(*program, *steps, model, options).ok());
  const std::map<std::string, stripe::IntrinsicSignature> known = {{"add", {2}}};
  options.intrinsics = &known;
  EXPECT_THAT(run_pipeline(*program, *steps, model, options).status().message(),
              HasSubstr("there is no intrinsic 'frobnicate'"));
}

TEST(AllPasses, AreSortedDescribedAndDocumented) {
  std::vector<PassInfo> all = passes::all_passes();
  ASSERT_GT(all.size(), 8u);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(all[i - 1].name, all[i].name);
    }
    EXPECT_FALSE(all[i].summary.empty());
    EXPECT_TRUE(all[i].bind(nlohmann::json::object(), "", nullptr).ok()) << all[i].name;
  }
  auto help = rows_as_text(
      std::find_if(all.begin(), all.end(), [](const PassInfo& p) { return p.name == "tile"; })
          ->options(),
      2);
  EXPECT_THAT(help, HasSubstr("balance: true or false, default false."));
  EXPECT_THAT(help, HasSubstr("order: text, default \"keep\"; one of keep, stride, reuse."));
  EXPECT_THAT(help, HasSubstr("    vectors: integer, default 0; 0 to 1048576."));
}

TEST(AllPasses, ThePipelinesOfThePluginsLoad) {
  const std::filesystem::path root = STRIA_SOURCE_DIR "/plugins";
  int seen = 0;
  for (const auto& folder : std::filesystem::directory_iterator(root)) {
    const std::filesystem::path manifest = folder.path() / "plugin.json";
    if (!std::filesystem::exists(manifest)) continue;
    const nlohmann::json read = nlohmann::json::parse(read_file(manifest.string()).value());
    for (const auto& [kind, files] : read.at("devices").items()) {
      const std::string hw = folder.path() / files.at("hw").get<std::string>();
      const std::string passes = folder.path() / files.at("pipeline").get<std::string>();
      // The simulator's models are those of the project.
      const std::string model_file = std::filesystem::exists(hw)
                                         ? hw
                                         : STRIA_SOURCE_DIR "/hwmodels/templates/" +
                                               std::filesystem::path(hw).filename().string();
      auto model = load_hardware_model({model_file, read_file(model_file).value()});
      ASSERT_TRUE(model.ok()) << model.status().to_string();
      PipelineSource source(passes, read_file(passes).value());
      source.of_manifest = true;
      auto loaded = parse_pipeline(source, {}, *model, passes::pass_registry());
      EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
      ++seen;
    }
  }
  EXPECT_GE(seen, 8);
}

}  // namespace
}  // namespace stria
