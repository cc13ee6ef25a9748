// SPDX-License-Identifier: Apache-2.0
// The choice between devices by what a program is predicted to take there.
#include "stria/runtime/pick/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stria {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DeviceFacts device(const std::string& plugin, const std::string& kind, double operations) {
  DeviceFacts out;
  out.info.plugin = out.info.id = plugin;
  out.info.selector = plugin + ":0";
  out.info.name = plugin + "'s device";
  out.info.kind = kind;
  out.info.available = true;
  out.info.memory_bytes = uint64_t{1} << 30;
  out.operations_per_second = operations;
  return out;
}

Prediction taking(double seconds, double least, double most) {
  Prediction out;
  out.by = PredictedBy::model;
  out.run = {seconds, least, most};
  return out;
}

// What the devices of `facts` are said to take, in their order; an empty list: nobody knows.
Pick chosen(const std::string& text, const std::vector<std::vector<Prediction>>& said,
            std::vector<DeviceFacts> facts = {}, std::vector<PickedModel> models = {}) {
  if (facts.empty())
    facts = {device("big", "gpu", 1e13), device("small", "cpu", 1e11),
             device("driver", "software", 1e12), device("paper", "npu", 0)};
  const Result<DeviceSelector> selector = parse_device_selector(text);
  EXPECT_TRUE(selector.ok()) << selector.status().message();
  Selection selection = select(facts, selector.ok() ? *selector : DeviceSelector());
  std::vector<Candidate> candidates;
  for (const size_t at : selection.order) {
    Candidate& one = candidates.emplace_back();
    one.device = at;
    one.software = is_software(facts[at].info);
    one.simulated = facts[at].info.plugin == "paper";
    if (at < said.size()) one.predictions = said[at];
  }
  return choose(std::move(selection), std::move(candidates), std::move(models));
}

PickedModel model(const std::string& file, std::vector<Prediction> predictions) {
  PickedModel out;
  out.file = out.name = file;
  out.kind = "big:gpu";
  out.predictions = std::move(predictions);
  return out;
}

std::vector<std::string> order_of(const Pick& pick) {
  std::vector<std::string> out;
  for (const size_t at : pick.selection.order)
    out.push_back(pick.selection.devices[at].device.plugin);
  return out;
}

TEST(Choose, TakesTheLeastTimeAndSaysWhy) {
  const Pick pick = chosen("auto", {{taking(20e-6, 15e-6, 30e-6)}, {taking(5e-6, 4e-6, 6e-6)}});
  EXPECT_THAT(order_of(pick), ElementsAre("small", "big", "driver", "paper"));
  EXPECT_EQ(pick.why, "small:0 takes 5 us (4 us .. 6 us), big:0 takes 20 us (15 us .. 30 us)");
  EXPECT_FALSE(pick.is_close);
  // Candidates stand in the order of the choice.
  ASSERT_EQ(pick.candidates.size(), 4u);
  EXPECT_EQ(pick.candidates[0].device, 1u);
  EXPECT_EQ(pick.candidate(0)->device, 0u);
}

TEST(Choose, SaysWhereIntervalsOverlap) {
  EXPECT_TRUE(chosen("auto", {{taking(5e-6, 3e-6, 8e-6)}, {taking(6e-6, 4e-6, 9e-6)}}).is_close);
  // Nobody would run it on a simulated device to find out.
  const Pick pick = chosen("auto, !small, !driver",
                           {{taking(5e-6, 3e-6, 8e-6)}, {}, {}, {taking(6e-6, 4e-6, 9e-6)}});
  EXPECT_THAT(order_of(pick), ElementsAre("big", "paper"));
  EXPECT_FALSE(pick.is_close);
}

// A driver that runs on the processor what is made for a GPU, and what only exists as a model, come
// behind all else, however fast they are said to be; what nobody knows behind what somebody knows.
TEST(Choose, RanksMachinesBeforeDriversAndModels) {
  EXPECT_THAT(
      order_of(
          chosen("auto",
                 {{taking(9, 8, 10)}, {}, {taking(1e-6, 1e-6, 1e-6)}, {taking(1e-9, 1e-9, 1e-9)}})),
      ElementsAre("big", "small", "driver", "paper"));
  Prediction half = taking(1e-6, 1e-6, 1e-6);
  half.unknown_kernels = 1;  // the others take less than the whole
  EXPECT_THAT(order_of(chosen("big, small, auto", {{half}, {taking(9, 8, 10)}})),
              ElementsAre("small", "big"));
}

// A model stands where a machine of its speed would stand, and nothing is picked otherwise.
TEST(Choose, ModelsChangeNothing) {
  const std::vector<std::vector<Prediction>> said = {
      {taking(5, 4, 6)}, {taking(20, 15, 30)}, {taking(1, 1, 1)}, {taking(0.1, 0.1, 0.1)}};
  const Pick alone = chosen("auto", said);
  const Pick pick =
      chosen("auto", said, {},
             {model("slow", {taking(100, 90, 110)}), model("quick", {taking(1e-9, 1e-9, 1e-9)}),
              model("middle", {taking(10, 9, 11)}), model("unknown", {}),
              model("as big", {taking(1, 1, 1), taking(5, 4, 6)})});
  EXPECT_EQ(pick.selection.order, alone.selection.order);
  EXPECT_EQ(pick.why, alone.why);
  EXPECT_EQ(pick.is_close, alone.is_close);
  std::vector<std::string> names;
  std::vector<size_t> places;
  for (const PickedModel& one : pick.models) {
    names.push_back(one.file);
    places.push_back(one.place);
  }
  // big, small, then the software driver and what is simulated.
  EXPECT_THAT(names, ElementsAre("quick", "as big", "middle", "slow", "unknown"));
  EXPECT_THAT(places, ElementsAre(0, 1, 1, 2, 2));
  // Behind a list, whose order is not one of times.
  EXPECT_EQ(chosen("big, small", said, {}, {model("quick", {taking(1, 1, 1)})}).models[0].place,
            2u);
}

TEST(Choose, ModelsKeepLimits) {
  const std::vector<std::vector<Prediction>> said = {{taking(1e-3, 1e-3, 1e-3)}};
  Prediction large = taking(1e-3, 1e-3, 1e-3);
  large.peak_bytes = 1000;
  PickedModel small = model("small memory", {large});
  small.memory_bytes = 999;
  const Pick pick = chosen("big, auto, deadline<=2ms", said, {},
                           {model("slow", {taking(1, 1, 1)}), model("unknown", {}), small,
                            model("good", {taking(1e-3, 1e-3, 1e-3)})});
  ASSERT_EQ(pick.models.size(), 4u);
  EXPECT_EQ(pick.models[0].file, "good");
  EXPECT_TRUE(pick.models[0].kept());
  for (size_t i = 1; i < 4; ++i) {
    ASSERT_EQ(pick.models[i].objections.size(), 1u) << pick.models[i].file;
    EXPECT_EQ(pick.models[i].objections[0].gate,
              pick.models[i].file == "small memory" ? Gate::memory : Gate::limit);
  }
}

TEST(Choose, KeepsTheOrderOfAList) {
  EXPECT_THAT(order_of(chosen("big, small", {{taking(9, 8, 10)}, {taking(1, 1, 1)}})),
              ElementsAre("big", "small"));
}

// Of several predictions the last one counts.
TEST(Choose, TrustsTheMoreCertainPrediction) {
  EXPECT_THAT(order_of(chosen("big, small, auto", {{taking(1, 0.1, 10), taking(3, 2, 4)},
                                                   {taking(5, 1, 25), taking(2, 1, 3)}})),
              ElementsAre("small", "big"));
}

TEST(Choose, CountsWhatIsDoneOnce) {
  Prediction quick = taking(1e-3, 1e-3, 1e-3), lasting = taking(2e-3, 2e-3, 2e-3);
  quick.build_s = 1;
  quick.prologue = {0.5, 0.5, 0.5};
  lasting.build_s = 0.1;
  const std::vector<std::vector<Prediction>> said = {{quick}, {lasting}};
  EXPECT_THAT(order_of(chosen("big, small, auto", said)), ElementsAre("big", "small"));
  EXPECT_THAT(order_of(chosen("big, small, auto:latency", said)), ElementsAre("big", "small"));
  EXPECT_THAT(order_of(chosen("big, small, auto:first-result", said)), ElementsAre("small", "big"));
  EXPECT_THAT(order_of(chosen("big, small, auto, runs=10", said)), ElementsAre("small", "big"));
  EXPECT_THAT(order_of(chosen("big, small, auto, runs=100000", said)), ElementsAre("big", "small"));
}

// A build of which nobody knows how long it takes is not free.
TEST(Choose, AnUnknownBuildIsNotFree) {
  Prediction known = taking(2e-3, 2e-3, 2e-3);
  known.build_s = 1;
  const std::vector<std::vector<Prediction>> said = {{taking(1e-3, 1e-3, 1e-3)}, {known}};
  EXPECT_THAT(order_of(chosen("big, small, auto", said)), ElementsAre("big", "small"));
  EXPECT_THAT(order_of(chosen("big, small, auto:first-result", said)), ElementsAre("small", "big"));
  EXPECT_THAT(order_of(chosen("big, small, auto, runs=2", said)), ElementsAre("small", "big"));
}

TEST(Choose, KeepsLimits) {
  Prediction hot = taking(1e-3, 0.9e-3, 2e-3), cool = taking(4e-3, 3e-3, 5e-3);
  hot.energy_j = 0.1;     // 100 W
  cool.energy_j = 0.004;  // 1 W
  const std::vector<std::vector<Prediction>> said = {{hot}, {cool}};
  EXPECT_THAT(order_of(chosen("big, small, auto:energy", said)), ElementsAre("small", "big"));
  EXPECT_THAT(order_of(chosen("big, small, auto:energy", {{hot}, {taking(1, 1, 1)}})),
              ElementsAre("big"));
  Pick pick = chosen("big, small, auto, power<=50W", said);
  EXPECT_THAT(order_of(pick), ElementsAre("small"));
  EXPECT_EQ(pick.selection.devices[0].objections[0].gate, Gate::limit);
  EXPECT_THAT(pick.selection.devices[0].objections[0].why, HasSubstr("100 W"));
  // A run that may be in time is kept.
  EXPECT_THAT(order_of(chosen("big, small, auto, deadline<=3ms", said)),
              ElementsAre("big", "small"));
  pick = chosen("big, small, auto, deadline<=2ms", said);
  EXPECT_THAT(order_of(pick), ElementsAre("big"));
  // What is not known keeps no promise.
  EXPECT_THAT(order_of(chosen("big, small, auto, deadline<=1h", {{hot}, {}})), ElementsAre("big"));
  EXPECT_THAT(order_of(chosen("big, small, auto, power<=1kW", {{hot}, {taking(1, 1, 1)}})),
              ElementsAre("big"));
  pick = chosen("big, auto, deadline<=1us", said);
  EXPECT_THAT(order_of(pick), IsEmpty());
  EXPECT_EQ(pick.why, "");
  const Status none = check_any_kept(pick.selection);
  EXPECT_EQ(none.code(), StatusCode::unsupported);
  EXPECT_THAT(none.message(), HasSubstr("must not take longer than"));
}

TEST(Choose, KeepsWhatFitsAtThePeak) {
  Prediction large = taking(1e-3, 1e-3, 1e-3);
  large.peak_bytes = uint64_t{1} << 31;
  const Pick pick = chosen("big, small, auto", {{large}, {taking(1, 1, 1)}});
  EXPECT_THAT(order_of(pick), ElementsAre("small"));
  EXPECT_EQ(pick.selection.devices[0].objections[0].gate, Gate::memory);
  EXPECT_THAT(pick.selection.devices[0].objections[0].why, HasSubstr("a run has 2 GiB at once"));
}

}  // namespace
}  // namespace stria
