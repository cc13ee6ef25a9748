// SPDX-License-Identifier: Apache-2.0
// What becomes of each device under a selector: kept or dropped, at which gate, by which term.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stria/runtime/pick/selection.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

DeviceFacts device(const std::string& plugin, uint32_t number, const std::string& name,
                   const std::string& kind, uint64_t gib, double operations) {
  DeviceFacts out;
  out.info.plugin = plugin;
  out.info.selector = plugin + ":" + std::to_string(number);
  out.info.id = plugin + "-id-" + std::to_string(number);
  out.info.name = name;
  out.info.kind = kind;
  out.info.available = true;
  out.info.memory_bytes = gib << 30;
  out.number = number;
  out.operations_per_second = operations;
  return out;
}

// A processor, two GPUs of which one is away, the same processor as a GPU, a simulated machine, and
// a plugin that cannot be used.
std::vector<DeviceFacts> machine() {
  std::vector<DeviceFacts> out = {device("llvm_cpu", 0, "Acme 300", "cpu", 16, 1e11),
                                  device("opencl", 0, "Größe, rev B", "gpu", 8, 1e12),
                                  device("opencl", 1, "Größe, rev C", "gpu", 0, 0),
                                  device("vulkan", 0, "llvmpipe", "software", 16, 1e13),
                                  device("sim", 0, "eyeriss", "eyeriss_like", 1, 0)};
  out[1].info.vendor = "Acme Inc.";
  out[1].lacks_types = {{DataType::fp64, "cl_khr_fp64"}, {DataType::i64, "no longs"}};
  out[2].info.available = false;
  out[2].info.reason = "its driver is too old";
  out[4].simulated = true;
  DeviceFacts& broken = out.emplace_back();
  broken.info.plugin = broken.info.selector = "bad";
  broken.plugin_trouble = "not trusted";
  return out;
}

Selection selected(const std::string& text, const ProgramNeeds* needs = nullptr,
                   const std::vector<DeviceFacts>& devices = machine()) {
  const Result<DeviceSelector> selector = parse_device_selector(text);
  EXPECT_TRUE(selector.ok()) << selector.status().message();
  return select(devices, selector.ok() ? *selector : DeviceSelector(), needs);
}

// The selectors of what is kept, in the order in which they are tried.
std::vector<std::string> kept(const std::string& text, const ProgramNeeds* needs = nullptr) {
  const Selection selection = selected(text, needs);
  std::vector<std::string> out;
  for (const size_t at : selection.order) {
    EXPECT_TRUE(selection.devices[at].kept());
    out.push_back(selection.devices[at].device.selector);
  }
  return out;
}

// What drops the device at that position.
std::vector<std::string> reasons(const Selection& selection, size_t at) {
  std::vector<std::string> out;
  for (const Objection& one : selection.devices[at].objections)
    out.push_back(std::string(name_of(one.gate)) + ": " + text_of(one, selection.selector));
  return out;
}

TEST(Selection, NamesAreAlternativesInTheirOrder) {
  EXPECT_THAT(kept("opencl"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("opencl:1"), IsEmpty());
  EXPECT_THAT(kept("vulkan, llvm_cpu, opencl"), ElementsAre("vulkan:0", "llvm_cpu:0", "opencl:0"));
  EXPECT_THAT(kept("*:0, sim"), ElementsAre("llvm_cpu:0", "opencl:0", "vulkan:0", "sim:0"));
  EXPECT_THAT(kept("*:*REV b*"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("opencl:\"größe, \"*"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("opencl:GRÖSSE*"), IsEmpty());
  EXPECT_THAT(kept("sim:*eyeriss*"), ElementsAre("sim:0"));
  EXPECT_THAT(kept("opencl:opencl-id-0, opencl:0, opencl"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("OPENCL"), IsEmpty());
  EXPECT_THAT(kept("open*"), ElementsAre("opencl:0"));
}

TEST(Selection, AutoTakesTheBest) {
  // By what models promise; simulated machines promise nothing, and software is taken last.
  EXPECT_THAT(kept("auto"), ElementsAre("opencl:0", "llvm_cpu:0", "sim:0", "vulkan:0"));
  EXPECT_THAT(kept("auto, sim, llvm_cpu"), ElementsAre("llvm_cpu:0", "sim:0"));
  EXPECT_THAT(kept("sim, llvm_cpu"), ElementsAre("sim:0", "llvm_cpu:0"));
  // Objectives and limits are carried, and change no verdict.
  const Selection carried = selected("auto:energy, runs=5, deadline<=1ms, power<=2W");
  EXPECT_EQ(carried.order, selected("auto").order);
  EXPECT_EQ(carried.selector.objective, Objective::energy);
  EXPECT_EQ(carried.selector.runs, 5u);
}

TEST(Selection, ConditionsAllHold) {
  EXPECT_THAT(kept("kind:gpu"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("kind:GPU|c*"), ElementsAre("opencl:0", "llvm_cpu:0"));
  EXPECT_THAT(kept("kind:gpu, kind:cpu"), IsEmpty());
  EXPECT_THAT(kept("!kind:software, !sim"), ElementsAre("opencl:0", "llvm_cpu:0"));
  EXPECT_THAT(kept("mem>=8G"), ElementsAre("opencl:0", "llvm_cpu:0", "vulkan:0"));
  EXPECT_THAT(kept("mem>8G"), ElementsAre("llvm_cpu:0", "vulkan:0"));
  EXPECT_THAT(kept("mem<8G"), ElementsAre("sim:0"));
  EXPECT_THAT(kept("mem<=8G"), ElementsAre("opencl:0", "sim:0"));
  EXPECT_THAT(kept("!mem>8G"), ElementsAre("opencl:0", "sim:0"));
  EXPECT_THAT(kept("dtype:fp64"), ElementsAre("llvm_cpu:0", "sim:0", "vulkan:0"));
  EXPECT_THAT(kept("!dtype:fp64"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("dtype:fp64|fp32, real"), ElementsAre("opencl:0", "llvm_cpu:0", "vulkan:0"));
  EXPECT_THAT(kept("!real"), ElementsAre("sim:0"));
  EXPECT_THAT(kept("vendor:acme*"), ElementsAre("opencl:0"));
  EXPECT_THAT(kept("opencl, llvm_cpu, mem>=10G"), ElementsAre("llvm_cpu:0"));
  EXPECT_THAT(kept("llvm_cpu, !llvm_cpu"), IsEmpty());
  // A packed type is what holds it while a program runs.
  EXPECT_THAT(kept("dtype:i4, opencl"), ElementsAre("opencl:0"));
}

// What earlier processes have found out counts for `auto`; who names a device takes it as it is.
TEST(Selection, AutoMindsTheHistoryOfADevice) {
  std::vector<DeviceFacts> devices = machine();
  Quarantine lost;
  lost.program = "matmul";
  lost.why = "the link is down";
  lost.ago_s = 200;
  lost.again_at = "14:05";
  devices[1].quarantine = lost;
  devices[0].conformance = {1, 2, {"K.sum", "K.max"}, 3, "2026-11-29"};
  devices[4].conformance = {2, 3, {"T.all"}, 1, "2026-11-29"};
  for (const char* text : {"auto", "!sim:1", "auto, opencl, llvm_cpu, sim, vulkan"}) {
    const Selection selection = selected(text, nullptr, devices);
    EXPECT_THAT(reasons(selection, 1),
                ElementsAre("quarantine: quarantine: lost 3 minutes ago in 'matmul': the link is "
                            "down; again from 14:05"));
    EXPECT_THAT(reasons(selection, 0),
                ElementsAre("conformance: it fails level 2 of conformance: K.sum, K.max and 1 more "
                            "(2026-11-29)"));
    EXPECT_THAT(selection.order, ::testing::UnorderedElementsAre(3u, 4u));
  }
  for (const char* text : {"opencl:0", "opencl, llvm_cpu", "llvm_cpu"}) {
    const Selection selection = selected(text, nullptr, devices);
    EXPECT_FALSE(selection.order.empty());
    for (const size_t at : selection.order) EXPECT_LT(at, 2u);
    // It is not an objection, and not forgotten.
    EXPECT_EQ(selection.devices[1].quarantine, lost);
    EXPECT_TRUE(selection.devices[0].conformance);
  }
  // Another program may run there, so this is not the program's fault.
  std::vector<DeviceFacts> one = {devices[1]};
  const Status none = check_any_kept(selected("auto", nullptr, one));
  EXPECT_EQ(none.code(), StatusCode::unavailable);
  EXPECT_THAT(none.message(), HasSubstr("quarantine: lost 3 minutes ago"));
}

TEST(Selection, EachDeviceSaysWhatDropsIt) {
  const Selection selection = selected("opencl, vulkan, sim, mem>=8G, dtype:fp64, !vulkan:llvm*");
  EXPECT_THAT(reasons(selection, 0),
              ElementsAre("name: none of 'opencl', 'vulkan', 'sim' means it"));
  EXPECT_THAT(reasons(selection, 1),
              ElementsAre("condition: 'dtype:fp64': it lacks fp64 (cl_khr_fp64)"));
  // Of a device that is not there, what nobody knows is no reason.
  EXPECT_THAT(reasons(selection, 2),
              ElementsAre("available: not available: its driver is too old"));
  EXPECT_THAT(reasons(selection, 3), ElementsAre("name: '!vulkan:llvm*': it is excluded"));
  EXPECT_THAT(reasons(selection, 4), ElementsAre("condition: 'mem>=8G': it has 1 GiB"));
  EXPECT_THAT(reasons(selection, 5), ElementsAre("name: none of 'opencl', 'vulkan', 'sim' means it",
                                                 "plugin: broken: not trusted"));
  EXPECT_EQ(selection.devices[4].objections[0].term, 3u);
  // All reasons are there, not only the first.
  EXPECT_THAT(reasons(selected("!llvm_cpu, mem>16G, kind:gpu"), 0),
              ElementsAre("name: '!llvm_cpu': it is excluded",
                          "condition: 'mem>16G': it has 16 GiB (17179869184 bytes)",
                          "condition: 'kind:gpu': its kind is 'cpu'"));
}

TEST(Selection, WhatIsNotKnownMeetsNoCondition) {
  std::vector<DeviceFacts> devices = {device("a", 0, "a", "gpu", 0, 1)};
  devices[0].model_trouble = "line 3: no number";
  EXPECT_THAT(reasons(selected("mem>=1B", nullptr, devices), 0),
              ElementsAre(HasSubstr("it does not say how much memory it has")));
  EXPECT_THAT(reasons(selected("!mem>=1B", nullptr, devices), 0), Not(IsEmpty()));
  EXPECT_THAT(reasons(selected("real", nullptr, devices), 0),
              ElementsAre(HasSubstr("its hardware model cannot be read: line 3: no number")));
  EXPECT_THAT(reasons(selected("!dtype:fp64", nullptr, devices), 0), Not(IsEmpty()));
  EXPECT_THAT(reasons(selected("vendor:*", nullptr, devices), 0), IsEmpty());
  EXPECT_THAT(reasons(selected("vendor:?*", nullptr, devices), 0),
              ElementsAre(HasSubstr("it names no vendor")));
}

TEST(Selection, GatesOfAProgram) {
  ProgramNeeds needs;
  needs.types = {{DataType::fp64, {"kernel_0", "kernel_1", "kernel_2", "kernel_3"}},
                 {DataType::fp32, {"kernel_4"}}};
  needs.bytes = uint64_t{2} << 30;
  const Selection selection = selected("auto", &needs);
  EXPECT_THAT(reasons(selection, 1),
              ElementsAre("types: it lacks fp64 (cl_khr_fp64), which is needed by kernel_0, "
                          "kernel_1, kernel_2 and 1 more"));
  EXPECT_THAT(reasons(selection, 4),
              ElementsAre("memory: it lacks memory: inputs and outputs have 2147483648 bytes, it "
                          "has 1073741824"));
  EXPECT_THAT(kept("auto", &needs), ElementsAre("llvm_cpu:0", "vulkan:0"));
  needs.bytes = UINT64_MAX;
  EXPECT_THAT(kept("auto", &needs), IsEmpty());
  const Status none = check_any_kept(selected("auto", &needs));
  EXPECT_EQ(none.code(), StatusCode::unsupported);
  EXPECT_THAT(none.message(), AllOf(StartsWith("no device is left of 'auto':\n  llvm_cpu:0"),
                                    HasSubstr("it lacks memory")));
}

TEST(Selection, NothingLeftSaysWhichTermDroppedWhichDevice) {
  EXPECT_TRUE(check_any_kept(selected("auto")).ok());
  const auto failure = [](const std::string& text) { return check_any_kept(selected(text)); };
  EXPECT_EQ(failure("opencl:7").code(), StatusCode::not_found);
  EXPECT_THAT(failure("opencl:7").message(),
              AllOf(StartsWith("no device matches 'opencl:7'. There is:\n  llvm_cpu:0  Acme 300\n"),
                    HasSubstr("opencl:1  Größe, rev C: not available: its driver is too old"),
                    HasSubstr("\n  bad: broken: not trusted")));
  EXPECT_THAT(failure("openlc").message(), HasSubstr("did you mean 'opencl'?"));
  EXPECT_THAT(failure("vulkn, sime:3").message(), HasSubstr("did you mean 'vulkan'?"));
  EXPECT_THAT(failure("knd:gpu").message(), HasSubstr("did you mean 'kind'?"));
  EXPECT_THAT(failure("*pipe*").message(), HasSubstr("behind a colon: '*:*pipe*'"));
  EXPECT_THAT(failure("bad").message(), HasSubstr("bad: broken: not trusted"));
  EXPECT_EQ(failure("bad").code(), StatusCode::not_found);
  EXPECT_THAT(failure("kind:gpuu").message(),
              StartsWith("no device is left of 'auto,kind:gpuu', did you mean 'gpu'?:\n"));
  // One that is meant is told in one line.
  EXPECT_EQ(failure("opencl:1").code(), StatusCode::unavailable);
  EXPECT_EQ(failure("opencl:1").message(),
            "no device is left of 'opencl:1': opencl:1  Größe, rev C: not available: its driver is "
            "too old");
  EXPECT_THAT(failure("opencl, sim, mem>=1T").message(),
              AllOf(HasSubstr("\n  opencl:0  Größe, rev B: 'mem>=1T': it has 8 GiB\n"),
                    HasSubstr("\n  sim:0  eyeriss: 'mem>=1T': it has 1 GiB\n"),
                    Not(HasSubstr("llvm_cpu"))));
  EXPECT_THAT(check_any_kept(selected("auto", nullptr, {})).message(),
              HasSubstr("no device at all"));
}

TEST(Selection, ManyDevicesAreNotAllListed) {
  std::vector<DeviceFacts> devices;
  for (uint32_t i = 0; i < 5000; ++i)
    devices.push_back(device("p", i, std::string(300, 'x'), "gpu", 1, 1));
  const Status none = check_any_kept(selected("mem>2G", nullptr, devices));
  EXPECT_THAT(none.message(), HasSubstr("and 4980 more"));
  EXPECT_LT(none.message().size(), 6000u);
  EXPECT_EQ(selected("p:4999", nullptr, devices).order, (std::vector<size_t>{4999}));
}

// Two folders may bring a plugin of one id: the second is listed as one that cannot be used.
TEST(Selection, APluginThatIsThereTwiceCountsOnce) {
  std::vector<DeviceFacts> devices = machine();
  DeviceFacts& again = devices.emplace_back();
  again.info.plugin = again.info.selector = "opencl";
  again.plugin_trouble = "another opencl came first";
  const Selection selection = selected("opencl", nullptr, devices);
  EXPECT_EQ(selection.order, (std::vector<size_t>{1}));
  EXPECT_THAT(reasons(selection, 6), ElementsAre("plugin: broken: another opencl came first"));
}

TEST(Selection, IsAFunctionOfItsArguments) {
  const std::vector<DeviceFacts> devices = machine();
  const DeviceSelector selector = parse_device_selector("auto, !sim, mem>=4G").value();
  const std::vector<size_t> expected = select(devices, selector).order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) EXPECT_EQ(select(devices, selector).order, expected);
    });
  for (std::thread& thread : threads) thread.join();
}

// A name that means nothing is not passed over in silence, unless a failure says so anyway.
TEST(Select, SaysWhichNamesAreIdle) {
  EXPECT_THAT(idle_names(selected("llvm_cpu, vulkan, !sim")), IsEmpty());
  EXPECT_THAT(idle_names(selected("opencll, llvm_cpu, sim:7, !simm")),
              ElementsAre("'opencll' means no device here, did you mean 'opencl'?",
                          "'sim:7' means no device here",
                          "'!simm' means no device here, did you mean 'sim'?"));
  EXPECT_THAT(idle_names(selected("opencll")), IsEmpty());
}

}  // namespace
}  // namespace stria
