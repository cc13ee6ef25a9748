// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/micro_kernels.h"

namespace stria {
namespace {

using testing::HasSubstr;

std::string failure(const std::string& text, const std::string& device = "") {
  auto model = load_hardware_model({"m.json", text}, {}, device);
  EXPECT_FALSE(model.ok()) << text;
  return model.ok() ? "" : model.status().message();
}

// The model that the slides print, repaired as the design allows.
TEST(HardwareModel, TheSlidesModelLoads) {
  auto text =
      read_file(std::string(STRIA_SOURCE_DIR) + "/tests/unit/hwmodel/slides/hardware_model.json");
  ASSERT_TRUE(text.ok());
  auto model = load_hardware_model({"hardware_model.json", *text}, {{"NUM_SRAM", "4"}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->find_memory("SRAM")->count, 4);
  EXPECT_EQ(model->find_memory("SRAM")->size_bytes, 512 * 1024);
  EXPECT_EQ(model->find_memory("DRAM")->size_bytes, int64_t{1} << 30);
  EXPECT_EQ(model->find_executor("CONV")->pipeline_depth, 2);
  EXPECT_EQ(model->unit_count("DMA"), 1);
  EXPECT_EQ(model->unit_count("L1"), std::nullopt);
  ASSERT_EQ(model->buses.size(), 4u);
  EXPECT_EQ(model->buses[2].sinks.size(), 4u);
  EXPECT_EQ(model->buses[2].sinks[3], (UnitInstance{"SRAM", 3}));
  EXPECT_EQ(model->merged()["exec_units"]["DSP"]["ops_per_cycle"], 64);
}

// Their other fragments of it: the part that a later slide repeats, and the settings of PlaidML v0.
TEST(HardwareModel, TheSlidesOtherFragmentsLoad) {
  auto fragment = [](const std::string& name) {
    auto text = read_file(STRIA_SOURCE_DIR "/tests/unit/hwmodel/slides/" + name);
    EXPECT_TRUE(text.ok()) << name;
    auto model = load_hardware_model({name, text.ok() ? *text : ""});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    return model.ok() ? *model : empty_hardware_model();
  };
  const HardwareModel part = fragment("hardware_model_codesign.json");
  EXPECT_EQ(part.find_executor("CONV")->ops_per_cycle, 512);
  EXPECT_EQ(part.find_memory("SRAM")->count, 8);
  const HardwareModel settings = fragment("settings.json");
  ASSERT_TRUE(settings.settings);
  EXPECT_EQ(settings.settings->threads, 256);
  EXPECT_EQ(settings.settings->goal_flops_per_byte, 50);
}

TEST(HardwareModel, TheFileWinsFieldByFieldAndOriginsAreKept) {
  auto model = load_hardware_model(
      {"m.json",
       R"({"clock_mhz": 1000, "exec_units": {"CORE": {"vector_bytes": {{ device.exec_units.CORE.vector_bytes | default(16) }} }}})"},
      {}, R"({"clock_mhz": 3000, "exec_units": {"CORE": {"count": 8, "vector_bytes": 64}}})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->clock_mhz, 1000);
  EXPECT_EQ(model->find_executor("CORE")->count, 8);
  EXPECT_EQ(model->find_executor("CORE")->vector_bytes, 64);
  EXPECT_EQ(model->origins().at("/clock_mhz").to_string(), "m.json:1");
  EXPECT_EQ(model->origins().at("/exec_units/CORE/count").to_string(), "device");
  EXPECT_EQ(model->origins().at("/exec_units/CORE/vector_bytes").to_string(), "m.json:1, device");
}

// Every way that a value can come about.
TEST(HardwareModel, OriginsTellLineSettingDeviceAndDefault) {
  const SourceText file{"m.json", R"({% set N = N | default(8) %}
{% set UNUSED = M | default(1) %}
{
  "name": "x",
  "clock_mhz": {{ device.clock_mhz | default(500) }},
  "source": {"clock_mhz": "a guess"},
  "mem_units": {
    "SRAM": {"count": {{ N }}, "size_KiB": {{ 1024 // N }}, "source": "the slides"},
    "REG": {"size_KiB": {{ (device["exec_units"].CORE.vector_bytes | default(32)) * 32 / 1024 }}, "source": "computed"}
  },
  "exec_units": {"CORE": {"count": {{ M }}, "vector_registers": 4{{ 0 }}, "fma_latency_cycles": 4}}
})"};
  auto model = load_hardware_model(
      file, {{"N", "4"}, {"M", "2"}},
      R"({"exec_units": {"CORE": {"vector_bytes": 64, "max_threads": 2, "source": {"vector_bytes": "cpuid"}}}})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->explain(),
            R"(/clock_mhz = 500                         (m.json:5, default)   a guess
/exec_units/CORE/count = 2               (m.json:11, --set M)
/exec_units/CORE/fma_latency_cycles = 4  (m.json:11)
/exec_units/CORE/max_threads = 2         (device)              the device
/exec_units/CORE/vector_bytes = 64       (device)              cpuid
/exec_units/CORE/vector_registers = 40   (m.json:11)
/mem_units/REG/size_KiB = 2.0            (m.json:9, device)    computed; cpuid
/mem_units/SRAM/count = 4                (m.json:8, --set N)   the slides
/mem_units/SRAM/size_KiB = 256           (m.json:8, --set N)   the slides
/name = "x"                              (m.json:4)
)");
  EXPECT_EQ(model->origins().at("/mem_units/REG/size_KiB").device,
            std::vector<std::string>{"/exec_units/CORE/vector_bytes"});
  EXPECT_EQ(
      model->numbers_without_source(),
      (std::vector<std::string>{"/exec_units/CORE/count", "/exec_units/CORE/fma_latency_cycles",
                                "/exec_units/CORE/vector_registers"}));
  // Read again, as a reproducer is, it says the same.
  auto again = load_hardware_model({"again", model->to_string()});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->merged(), model->merged());
  EXPECT_EQ(again->origins().at("/mem_units/REG/size_KiB").source, "computed; cpuid");
  EXPECT_EQ(again->numbers_without_source(), model->numbers_without_source());
}

TEST(HardwareModel, OriginsOfLoopsAndOfNamesThatPassOn) {
  const SourceText file{"m.json", R"({% set A = device.clock_mhz | default(7) %}{% set B = A * 2 %}
{"clock_mhz": {{ B }}, "launch_us": {{ 3 if K else 4 }}, "mem_units": {
{% for c in C %} "{{ c }}": {"count": {{ loop.index }}, "size_KiB": {{ S[c].size | default(9) }} } {% if not loop.last %},{% endif %}
{% endfor %} } })"};
  auto model = load_hardware_model(
      file, {{"K", "1"}, {"C", R"(["X", "Y"])"}, {"S", R"({"X": {"size": 3}})"}},
      R"({"clock_mhz": 9})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto& origins = model->origins();
  EXPECT_EQ(origins.at("/clock_mhz").to_string(), "m.json:2, device");
  EXPECT_EQ(origins.at("/launch_us").to_string(), "m.json:2, --set K");
  EXPECT_EQ(origins.at("/mem_units/X/count").to_string(), "m.json:3");
  EXPECT_EQ(origins.at("/mem_units/X/size_KiB").to_string(), "m.json:3, --set C, S");
  EXPECT_EQ(origins.at("/mem_units/Y/size_KiB").to_string(), "m.json:3, --set C, default");
}

TEST(HardwareModel, ASourceSpeaksForItsUnitOnly) {
  auto model =
      load_hardware_model({"m.json",
                           R"({"clock_mhz": 1, "source": "all", "mem_units": {"A": {"size_KiB": 1}},
           "exec_units": {"B": {"count": 2, "source": {"rates": "measured", "count": "counted"},
                                "rates": {"fp32": {"ops_per_cycle": 1}}, "leakage_mW": 1}},
           "settings": {"threads": 4, "max_mem": 8, "source": {"threads": "slides"}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->origins().at("/clock_mhz").source, "all");
  EXPECT_EQ(model->origins().at("/exec_units/B/rates/fp32/ops_per_cycle").source, "measured");
  EXPECT_EQ(model->origins().at("/settings/threads").source, "slides");
  EXPECT_EQ(model->numbers_without_source(),
            (std::vector<std::string>{"/exec_units/B/leakage_mW", "/mem_units/A/size_KiB",
                                      "/settings/max_mem"}));
}

TEST(HardwareModel, VectorLanes) {
  auto model = load_hardware_model(
      {"m.json", R"({"exec_units": {"CORE": {"vector_bytes": 64}, "DSP": {}}})"});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->vector_lanes(4), 16);
  EXPECT_EQ(model->vector_lanes(8), 8);
  EXPECT_EQ(model->vector_lanes(128), 1);
  EXPECT_EQ(model->vector_lanes(4, "DSP"), 1);
  EXPECT_EQ(empty_hardware_model().vector_lanes(4), 1);
}

TEST(HardwareModel, LargeMemoriesHaveTheirSize) {
  auto model =
      load_hardware_model({"m.json", R"({"mem_units": {"DRAM": {"size_KiB": 1073741824}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->memories[0].size_bytes, int64_t{1} << 40);
  model =
      load_hardware_model({"m.json", R"({"mem_units": {"DRAM": {"size_KiB": 8796093022208}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->memories[0].size_bytes, int64_t{1} << 53);
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"size_KiB": 8796093022209}}})"),
              HasSubstr("/mem_units/DRAM/size_KiB: 8796093022209 is outside 0 .. 8796093022208"));
}

TEST(HardwareModel, MistakesNameTheJsonPath) {
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"size_Kib": 1}}})"),
              HasSubstr("m.json:1:25: error: /mem_units/DRAM/size_Kib: unknown key, did you mean "
                        "'size_KiB'?"));
  EXPECT_THAT(failure(R"({"mem_unit": {}})"), HasSubstr("did you mean 'mem_units'?"));
  EXPECT_THAT(failure(R"({"clock_mhz": -1})"), HasSubstr("/clock_mhz: -1 is outside"));
  EXPECT_THAT(failure(R"({"clock_mhz": "fast"})"), HasSubstr("must be a number"));
  EXPECT_THAT(failure(R"({"exec_units": {"CORE": {"count": 1.5}}})"),
              HasSubstr("must be an integer"));
  EXPECT_THAT(failure(R"({"exec_units": {"CORE": {"count": 1e300}}})"), HasSubstr("outside"));
  EXPECT_THAT(
      failure(R"({"exec_units": {"CORE": {"count": 0}}})"),
      HasSubstr("m.json:1:35: error: /exec_units/CORE/count: 0 is outside 1 .. 1000000000"));
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"count": -1}}})"),
              HasSubstr("/mem_units/DRAM/count: -1 is outside 1 .."));
  EXPECT_THAT(failure(R"({"tx_units": {"DMA": {"count": 0}}})"),
              HasSubstr("/tx_units/DMA/count: 0 is outside 1 .."));
  EXPECT_THAT(failure(R"({"name": ""})"),
              HasSubstr("m.json:1:10: error: /name: must be a string that is not"));
  EXPECT_THAT(failure(R"({"exec_units": {"A B": {}}})"), HasSubstr("letters, digits"));
  EXPECT_THAT(failure(R"({"exec_units": {"X": {}}, "mem_units": {"X": {}}})"),
              HasSubstr("in two of"));
  EXPECT_THAT(failure(R"([])"), HasSubstr("must be an object"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"DRAM": {}}, "buses": [{"sources": ["DRAM[0]"], "sinks": ["DRAN[0]"]}]})"),
      HasSubstr("/buses/0/sinks/0: the model has no unit 'DRAN', did you mean 'DRAM'?"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"DRAM": {}}, "buses": [{"sources": ["DRAM[1]"], "sinks": ["DRAM"]}]})"),
      HasSubstr("the model has 1 of 'DRAM'"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"A": {}, "B": {}}, "buses": [{"sources": ["A"], "sinks": ["B", "B[0]"]}]})"),
      HasSubstr("/buses/0/sinks/1: 'B[0]' is listed twice"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"DRAM": {}}, "buses": [{"sources": ["DRAM[0"], "sinks": ["DRAM"]}]})"),
      HasSubstr("must be a unit such as"));
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"policy": "manged"}}})"),
              HasSubstr("must be one of unknown, managed, lru, this is 'manged', did you mean "
                        "'managed'?"));
  EXPECT_THAT(failure(R"({"mem_units": {"source": {}}})"), HasSubstr("and not 'source'"));
  EXPECT_THAT(failure(R"({"exec_units": {"X": {"rates": {"fp23": {}}}}})"),
              HasSubstr("/exec_units/X/rates/fp23: there is no type 'fp23', did you mean 'fp32'?"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"L1": {}}, "exec_units": {"X": {"rates": {"fp32": {"read_bytes_per_cycle": {"L2": 1}}}}}})"),
      HasSubstr("/L2: the model has no memory unit 'L2', did you mean 'L1'?"));
  EXPECT_THAT(failure(R"({"source": {"clock_mh": "x"}, "clock_mhz": 1})"),
              HasSubstr("m.json:1:13: error: /source/clock_mh: there is no key 'clock_mh' beside "
                        "this source, did you mean 'clock_mhz'?"));
  EXPECT_THAT(failure(R"({"source": ""})"), HasSubstr("/source: must be a text, or an object"));
  EXPECT_THAT(failure(R"({"settings": {"threads": 100}})"), HasSubstr("must be a power of two"));
  const std::string instruction =
      R"({"mem_units": {"REG": {}}, "exec_units": {"X": {"instructions": {"mma":
    {"idxs": [{"name": "m", "size": 2}], "operands": {"A": {"type": "fp16", "dims": ["m"], "home": "REG"}}}}}}})";
  EXPECT_TRUE(load_hardware_model({"m.json", instruction}).ok());
  auto with = [&](const std::string& from, const std::string& to) {
    std::string text = instruction;
    return failure(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(with("[\"m\"]", "[\"n\"]"),
              HasSubstr("m.json:2:86: error: /exec_units/X/instructions/mma/operands/A/dims/0: the "
                        "instruction has no index 'n'"));
  EXPECT_THAT(with("\"home\": \"REG\"", "\"home\": \"REF\""), HasSubstr("did you mean 'REG'?"));
  EXPECT_THAT(with("fp16", "fp61"), HasSubstr("there is no type 'fp61', did you mean 'fp16'?"));
  EXPECT_THAT(with("\"size\": 2", "\"size\": 0"), HasSubstr("0 is outside 1"));
  EXPECT_THAT(
      with("\"home\": \"REG\"", "\"home\": \"REG\", \"fragment\": {\"lane\": \"d0[0+:1]\"}"),
      HasSubstr("/fragment/slot: is missing"));
  EXPECT_THAT(failure("{}", R"({"clok_mhz": 1})"),
              HasSubstr("device properties:1:2: error: /clok_mhz: unknown key, did you mean "
                        "'clock_mhz'?"));
}

constexpr const char* kMicroKernel =
    R"({"mem_units": {"DRAM": {}}, "exec_units": {"CORE": {"instructions": {"product": {"symbol": "product_8x8",
  "idxs": [{"name": "m", "size": 8}, {"name": "k", "size": -1}],
  "operands": {
    "A": {"type": "fp32", "dims": ["m", "k"], "home": "DRAM", "strides": {"k": 1}, "align_bytes": 32},
    "C": {"type": "fp32", "dims": ["m"], "home": "DRAM", "written": true}}}}}}})";

TEST(HardwareModel, PortsServeEachUseOnce) {
  auto model = load_hardware_model({"m.json", R"({"mem_units": {
    "M": {"ports": [{"bytes_per_cycle": 8, "serves": ["first", "results"]}, {"serves": ["copy_in"]}]},
    "N": {"read_bytes_per_cycle": 2}, "O": {"banks": 4, "bank_bytes": 8}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const MemoryUnit& m = *model->find_memory("M");
  ASSERT_EQ(m.ports.size(), 2u);
  EXPECT_EQ(m.ports[0].bytes_per_cycle, 8);
  EXPECT_EQ(m.ports[0].serves, (std::array{true, false, false, true, false, false}));
  EXPECT_EQ(ports_of(*model->find_memory("N"))[0].serves, reading_uses());
  EXPECT_EQ(ports_of(*model->find_memory("N"))[1].serves, writing_uses());
  EXPECT_EQ(ports_of(*model->find_memory("O")).size(), 1u);
  const auto of = [](const std::string& memory) {
    return failure("{\"mem_units\": {\"M\": {" + memory + "}}}");
  };
  EXPECT_THAT(of(R"("ports": [{"serves": ["reads", "first"]}])"),
              HasSubstr("/mem_units/M/ports/0/serves/1: 'first' has a port already"));
  EXPECT_THAT(of(R"("ports": [{"serves": ["result"]}])"),
              HasSubstr("this is \"result\", did you mean 'results'?"));
  EXPECT_THAT(of(R"("ports": [{"bytes_per_cycle": 1}])"),
              HasSubstr("/mem_units/M/ports/0/serves: must be a list of uses such as \"reads\""));
  EXPECT_THAT(of(R"("ports": [{"serves": ["reads"]}], "read_bytes_per_cycle": 2)"),
              HasSubstr("'ports' says what reads and writes have"));
  EXPECT_THAT(of(R"("ports": 3)"), HasSubstr("/mem_units/M/ports: must be a list"));
}

TEST(HardwareModel, MicroKernels) {
  const HardwareModel model = load_hardware_model({"m.json", kMicroKernel}).value();
  const Instruction& product = model.executors.at(0).instructions.at(0);
  EXPECT_EQ(product.symbol, "product_8x8");
  EXPECT_EQ(product.indices.at(0).size, 8);
  EXPECT_EQ(product.indices.at(1).size, kAnySize);
  EXPECT_EQ(product.operands.at(0).strides, (std::map<std::string, int64_t>{{"k", 1}}));
  EXPECT_EQ(product.operands.at(0).align_bytes, 32);
  EXPECT_TRUE(product.operands.at(1).strides.empty());
  EXPECT_EQ(product.operands.at(1).align_bytes, 1);
}

TEST(HardwareModel, WhatAMicroKernelCannotTake) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kMicroKernel;
    return failure(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(with("product_8x8", "product 8x8"),
              HasSubstr(": error: /exec_units/CORE/instructions/product/symbol: must be "
                        "the name of a function: letters, digits and '_', a letter first, 60 at "
                        "most, this is 'product 8x8'"));
  EXPECT_THAT(with("product_8x8", ""), HasSubstr("/symbol: must be a string that is not empty"));
  EXPECT_THAT(
      with("\"size\": 8", "\"size\": 1"),
      HasSubstr("idxs/0/size: 1 is no size of a micro-kernel's index: 2 or more, or -1, which "
                "is any size from 2 on"));
  EXPECT_THAT(with("\"size\": -1", "\"size\": -2"), HasSubstr("-2 is outside -1"));
  EXPECT_THAT(
      with("\"symbol\": \"product_8x8\",", ""),
      HasSubstr("idxs/1/size: -1, any size, is for micro-kernels; 'product' names no symbol"));
  EXPECT_THAT(with("{\"k\": 1}", "{\"n\": 1}"),
              HasSubstr("operands/A/strides/n: the operand has no dim 'n' (its dims: m, k)"));
  EXPECT_THAT(with("{\"k\": 1}", "{\"k\": 0}"), HasSubstr("strides/k: 0 is outside 1"));
  EXPECT_THAT(with("\"align_bytes\": 32", "\"align_bytes\": 24"),
              HasSubstr("align_bytes: must be a power of two"));
  EXPECT_THAT(with("\"align_bytes\": 32", "\"align_bytes\": 128"), HasSubstr("128 is outside 1"));
  EXPECT_THAT(with("\"align_bytes\"", "\"align_byte\""), HasSubstr("did you mean 'align_bytes'?"));
  EXPECT_THAT(
      with(", \"written\": true", ""),
      HasSubstr("operands: a micro-kernel has one operand that is \"written\": true, this one "
                "has 0"));
  EXPECT_THAT(with("\"written\": true",
                   "\"written\": true, \"fragment\": {\"lane\": \"0\", \"slot\": \"0\"}"),
              HasSubstr("fragment: lanes hold no operand of the micro-kernel 'product'"));
  std::string hardware = kMicroKernel;
  for (const std::string part :
       {"\"symbol\": \"product_8x8\",", ", {\"name\": \"k\", \"size\": -1}"})
    hardware.erase(hardware.find(part), part.size());
  EXPECT_THAT(failure(hardware), HasSubstr("no index 'k'"));
  hardware.replace(hardware.find("[\"m\", \"k\"]"), 10, "[\"m\"]");
  EXPECT_THAT(failure(hardware),
              HasSubstr("operands/A/strides: it is for micro-kernels; 'product' names no symbol"));
  EXPECT_THAT(failure(R"({"micro_kernels": ["a", "a"]})"),
              HasSubstr("/micro_kernels/1: \"a\" is listed twice"));
  EXPECT_THAT(failure(R"({"micro_kernels": ["1"]})"), HasSubstr("must be the name of a function"));
}

// The device says which functions the plugin has.
TEST(HardwareModel, MicroKernelsThatThePluginLacks) {
  const auto check = [](std::string_view device, const std::string& more = "") {
    std::string text = kMicroKernel;
    text.insert(1, more);
    return check_micro_kernels(load_hardware_model({"hw/m.json", text}, {}, device).value(),
                               "acme");
  };
  EXPECT_TRUE(check(R"({"micro_kernels": ["other", "product_8x8"]})").ok());
  EXPECT_EQ(check(R"({"micro_kernels": ["product_8x9", "other"]})").message(),
            "m.json:1: /exec_units/CORE/instructions/product/symbol: the plugin 'acme' "
            "has no micro-kernel 'product_8x8', did you mean 'product_8x9'? (it has product_8x9, "
            "other): correct the name, or add the function to the plugin");
  EXPECT_THAT(check("{}").to_string(),
              HasSubstr("m.json:1: /exec_units/CORE/instructions/product/symbol: the plugin 'acme' "
                        "calls no micro-kernels, so it has no 'product_8x8': take the instruction "
                        "'product' out of the model, or report"));
  // Nothing is called on a machine that is simulated.
  EXPECT_TRUE(check("{}", R"("simulated": true, )").ok());
}

// Rule M23.
TEST(HardwareModel, FlushedSubnormals) {
  const auto model = [](std::string_view device) {
    auto loaded = load_hardware_model({"m.json", "{}"}, {}, device);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return std::move(loaded).value();
  };
  EXPECT_FALSE(model("{}").flushed_subnormals.any());
  const HardwareModel one = model(R"({"flushes_subnormals": ["fp32"]})");
  EXPECT_TRUE(one.flushed_subnormals.any());
  for (DataType type : {DataType::fp32, DataType::bf16})
    EXPECT_TRUE(one.flushed_subnormals.contains(type)) << name_of(type);
  for (DataType type : {DataType::fp16, DataType::fp64, DataType::i32})
    EXPECT_FALSE(one.flushed_subnormals.contains(type)) << name_of(type);
  EXPECT_THAT(one.explain(), HasSubstr(R"(/flushes_subnormals = ["fp32"])"));
  EXPECT_TRUE(
      model(R"({"flushes_subnormals": ["fp64"]})").flushed_subnormals.contains(DataType::fp64));
  EXPECT_THAT(failure(R"({"flushes_subnormals": "fp32"})"), HasSubstr("must be a list"));
  EXPECT_THAT(failure(R"({"flushes_subnormals": ["fp32", "fp16"]})"),
              HasSubstr("/flushes_subnormals/1: must be \"fp32\" (bf16 goes with it) or "
                        "\"fp64\", this is \"fp16\""));
  EXPECT_THAT(failure(R"({"flushes_subnormals": ["fp32", "fp32"]})"), HasSubstr("listed twice"));
}

TEST(HardwareModel, LackingTypes) {
  auto loaded =
      load_hardware_model({"m.json", "{}"}, {}, R"({"lacks_types": {"fp64": "a", "i64": "b"}})");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT(loaded->lacking_types, ::testing::ElementsAre(::testing::Pair(DataType::i64, "b"),
                                                            ::testing::Pair(DataType::fp64, "a")));
  EXPECT_THAT(loaded->explain(), HasSubstr("/lacks_types/fp64"));
  EXPECT_THAT(failure(R"({"lacks_types": ["fp64"]})"), HasSubstr("/lacks_types"));
  EXPECT_THAT(failure(R"({"lacks_types": {"fp8": "x"}})"), HasSubstr("fp8"));
  EXPECT_THAT(failure(R"({"lacks_types": {"fp64": 1}})"), HasSubstr("/lacks_types/fp64"));
}

}  // namespace
}  // namespace stria
