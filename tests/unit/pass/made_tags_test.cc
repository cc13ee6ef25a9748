// SPDX-License-Identifier: Apache-2.0
// Tags that steps require: lowering makes them, or a step before sets them. Anything else is an
// error in a pipeline that a manifest names, and a note elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"

namespace stria {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PassRegistry registry() {
  PassRegistry out = passes::pass_registry();
  // A pass of which nothing is known, like a plugin's.
  PassInfo foreign;
  foreign.name = "foreign";
  foreign.bind = [](const auto&, const auto&, auto*) -> Result<PassFunction> {
    return PassFunction([](stripe::Program&, PassContext&) { return Status(); });
  };
  foreign.make_todays = [](auto&) {};
  foreign.options = [] { return std::vector<OptionRow>(); };
  out.passes.push_back(std::move(foreign));
  out.fragments["tail"] = {"core/tail", R"([{"unroll": {"reqs": ["main", "walrus"]}}])"};
  return out;
}

Result<Pipeline> parse(const std::string& steps, bool of_manifest) {
  static const HardwareModel model = load_hardware_model({"m", "{}"}).value();
  PipelineSource source("p.json", steps);
  source.of_manifest = of_manifest;
  return parse_pipeline(source, {}, model, registry());
}

// "" or the error of a pipeline that a manifest names.
std::string error(const std::string& steps) {
  const Result<Pipeline> pipeline = parse(steps, true);
  if (!pipeline.ok()) return pipeline.status().message();
  EXPECT_THAT(pipeline->notes, IsEmpty()) << steps;
  return "";
}

std::vector<std::string> notes(const std::string& steps) {
  const Result<Pipeline> pipeline = parse(steps, false);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  return pipeline.ok() ? pipeline->notes : std::vector<std::string>();
}

TEST(MadeTags, AMisspeltTagIsAnErrorWithTheNearestName) {
  EXPECT_THAT(error(R"([{"thread": {"reqs": ["kernel", "contracton"]}}])"),
              AllOf(HasSubstr("p.json"),
                    HasSubstr("/0/thread/reqs/1: no step before this one sets the tag "
                              "'contracton', and lowering does not"),
                    HasSubstr("'contraction'")));
  EXPECT_THAT(error(R"([{"autotile": {"inner_set": ["zebra"]}},
                        {"unroll": {"reqs": ["zebras"]}}])"),
              AllOf(HasSubstr("/1/unroll/reqs/0: "), HasSubstr("'zebra'")));
}

TEST(MadeTags, ElsewhereItIsANoteOnceForEachTag) {
  EXPECT_THAT(notes(R"([{"thread": {"reqs": ["walrus"]}}, {"unroll": {"reqs": ["walrus", "emu"]}},
                        {"pad": {"reqs": ["emu"]}}])"),
              ElementsAre(HasSubstr("/0/thread/reqs/0: no step before this one sets the tag "
                                    "'walrus'"),
                          HasSubstr("/1/unroll/reqs/1: ")));
  EXPECT_THAT(notes(R"([{"thread": {}}])"), IsEmpty());
}

TEST(MadeTags, AStepSetsThemForThoseBehindIt) {
  const std::string sets = R"({"autotile": {"outer_set": ["okapi"], "inner_set": ["zebra"]}})";
  const std::string reads = R"({"unroll": {"reqs": ["okapi", "zebra"]}})";
  EXPECT_EQ(error("[" + sets + ", " + reads + "]"), "");
  EXPECT_THAT(error("[" + reads + ", " + sets + "]"), HasSubstr("/0/unroll/reqs/0: "));
  // What is looked for in order to be left alone may be missing.
  EXPECT_EQ(error(R"([{"autotile": {"exclude": ["okapi"]}}])"), "");
}

TEST(MadeTags, DefaultsCountOnBothSides) {
  // `unroll` requires #register_tile, which `vectorize` sets.
  EXPECT_THAT(error(R"([{"unroll": {}}])"),
              HasSubstr("/0/unroll/reqs/0: no step before this one sets the tag 'register_tile'"));
  EXPECT_EQ(error(R"([{"vectorize": {}}, {"unroll": {}}])"), "");
  EXPECT_THAT(error(R"([{"vectorize": {"tile_set": ["mine"]}}, {"drop_tail_masks": {}},
                        {"cache": {}}])"),
              HasSubstr("/2/cache/reqs/0: no step before this one sets the tag 'steps'"));
}

TEST(MadeTags, WhatAPassSetsByItself) {
  EXPECT_EQ(error(R"([{"stream_stores": {}}, {"cache": {"reqs": ["kernel"],
                      "ref_reqs": ["stream"]}}])"),
            "");
  EXPECT_THAT(error(R"([{"cache": {"reqs": ["kernel"], "ref_reqs": ["stream"]}}])"),
              HasSubstr("/0/cache/ref_reqs/0: "));
  EXPECT_EQ(error(R"([{"thread": {}}, {"locate_block": {"reqs": ["parallel"]}}])"), "");
  EXPECT_THAT(error(R"([{"locate_block": {"reqs": ["parallel"]}}])"), HasSubstr("'parallel'"));
}

TEST(MadeTags, FamiliesOfLowering) {
  EXPECT_EQ(error(R"([{"thread": {"reqs": ["eltwise_zelu", "agg_op_max", "comb_op_none", "piece",
                      "eltwise", "main", "program", "gather", "zero"]}}])"),
            "");
  EXPECT_THAT(error(R"([{"thread": {"reqs": ["eltwis_zelu"]}}])"), HasSubstr("'eltwis_zelu'"));
  EXPECT_THAT(error(R"([{"thread": {"reqs": ["stencil_m"]}}])"), HasSubstr("'stencil_m'"));
}

TEST(MadeTags, TagsInsideListsAndWhatIsRemoved) {
  const std::string sets = R"({"tensorize": {"stencils": [{"name": "s", "idxs": [{"name": "m",
      "size": 4, "outs": [1], "ins": [-1]}]}], "inputs_set": [{"tags": ["gnu"]}, {"tags": []}]}})";
  const std::string reads = R"({"cache": {"reqs": ["kernel"], "ref_reqs": ["gnu"]}})";
  EXPECT_EQ(error("[" + sets + ", " + reads + "]"), "");
  EXPECT_THAT(error("[" + reads + "]"), HasSubstr("'gnu'"));
  EXPECT_THAT(error(R"([{"fusion": {"inner_remove_set": ["ibex"]}},
                        {"unroll": {"reqs": ["ibex"]}}])"),
              HasSubstr("'ibex'"));
}

TEST(MadeTags, BehindAForeignPassAnyTagMayBeThere) {
  EXPECT_EQ(error(R"([{"foreign": {}}, {"unroll": {"reqs": ["walrus"]}}])"), "");
  EXPECT_NE(error(R"([{"unroll": {"reqs": ["walrus"]}}, {"foreign": {}}])"), "");
}

TEST(MadeTags, FragmentsAreSteps) {
  EXPECT_THAT(error(R"([{"include": "core/tail"}])"),
              HasSubstr("core/tail:1:31: error: /0/unroll/reqs/1: no step before this one sets the "
                        "tag 'walrus'"));
  EXPECT_EQ(error(R"([{"autotile": {"outer_set": ["walrus"]}}, {"include": "core/tail"}])"), "");
}

// `core/closing` locates what is in the prologue, and many pipelines split none off.
TEST(MadeTags, SectionsMayAlwaysBeAskedFor) {
  EXPECT_EQ(error(R"([{"include": "core/closing"}])"), "");
}

// With matrix units and without them.
TEST(MadeTags, TheFragmentsOfCoreRequireNothingElse) {
  const std::string file = STRIA_SOURCE_DIR "/plugins/vulkan/hw/gpu.json";
  const HardwareModel model = load_hardware_model({file, read_file(file).value()}).value();
  for (const char* matrix : {"", "MATRIX"}) {
    PipelineSource source("p.json", fmt::format(R"([{{"include": "core/gpu_opening"}},
        {{"include": "core/gpu_products", "with": {{"MATRIX": "{}"}}}},
        {{"include": "core/gpu_closing"}}])",
                                                matrix));
    source.of_manifest = true;
    const Result<Pipeline> pipeline = parse_pipeline(source, {}, model, registry());
    EXPECT_TRUE(pipeline.ok()) << matrix << ": " << pipeline.status().to_string();
  }
}

}  // namespace
}  // namespace stria
