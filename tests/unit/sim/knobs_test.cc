// SPDX-License-Identifier: Apache-2.0
// Every number of a model matters: each leaf is changed, alone, and some output of some network on
// it must change, or the leaf stands in the list of those that a simulation does not look at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "report/simulation_report.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/lower/lower.h"
#include "stria/passes/all_passes.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::sim {
namespace {

using nlohmann::json;

// Leaves without an effect, by the names of the models, and why.
const std::pair<const char*, const char*> kInert[] = {
    {".*/launch_us", "of the host's calls, of which a part is one"},
    {".*/drain_us", "of devices whose kernels the host starts"},
    {".*/run_us", "of the host's calls"},
    {".*/build_ms", "of the plugin's compiler, before anything runs"},
    {".*/mem_units/DRAM/size_KiB", "only whether tensors fit, which PartChecks tests"},
    {"(slides_systolic|tpu_like|eyeriss_like)/mem_units/DRAM/count",
     "tensors are in the first one, others cost nothing"},
    {".*/mem_units/[A-Z]+/ways", "of caches"},
    {".*/exec_units/[A-Z]+/(vector_bytes|vector_registers|fma_latency_cycles|max_threads)",
     "of code for processors"},
};

bool is_inert(const std::string& pointer) {
  for (const auto& [pattern, why] : kInert)
    if (std::regex_match(pointer, std::regex(pattern))) return true;
  return false;
}

// A convolution with what follows it, a reduction that does not fit into the scratchpad, rows of a
// large table, a product that is fused with what follows it, and one by itself.
struct Network {
  const char* text;
  std::map<std::string, tile::TensorType> inputs;
};
const Network kNetworks[] = {
    {"function (I[X, Y, C], K[A, B, C, M], D[M]) -> (R) {\n"
     "  S[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n"
     "  T = max(S + D, 0);\n"
     "  R[x, y, c : X / 2, Y / 2, M] = >(T[2*x + i, 2*y + j, c]), i < 2, j < 2;\n}",
     {{"I", {DataType::i8, {96, 96, 8}}},
      {"K", {DataType::i8, {3, 3, 8, 16}}},
      {"D", {DataType::i32, {16}}}}},
    {"function (A[N, M]) -> (R) { R[m: M] = +(A[n, m]); }", {{"A", {DataType::fp32, {200, 500}}}}},
    {"function (D[N, M], I[K]) -> (R) { R = gather(D, I) + 1; }",
     {{"D", {DataType::i8, {20000, 16}}}, {"I", {DataType::i32, {50}}}}},
    {"function (A[M, K], B[K, N], D[N]) -> (C) {\n"
     "  S[m, n : M, N] = +(A[m, k] * B[k, n]);\n"
     "  C = max(S + D, 0);\n}",
     {{"A", {DataType::i8, {64, 64}}},
      {"B", {DataType::i8, {64, 64}}},
      {"D", {DataType::i32, {64}}}}},
    {"function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }",
     {{"A", {DataType::i8, {256, 1024}}}, {"B", {DataType::i8, {1024, 192}}}}},
};

void strip_sources(json& value) {
  if (value.is_object()) value.erase("source");
  if (value.is_structured())
    for (json& child : value) strip_sources(child);
}

// To the operations that the networks have.
void give_energy(json& model, const std::string& products, const std::string& rest) {
  model["exec_units"][rest]["energy_pJ"] = {{"add.i32", 1}, {"add.fp32", 1}, {"add.i8", 1}};
  json& energy = model["exec_units"][products]["energy_pJ"];
  if (products != rest) energy = json::object();
  energy["mac.i8"] = energy["add.i32"] = 1;
}

// A model with the pipeline that ships for it.
struct Shipped {
  json model;
  std::string pipeline;
};

// The model of the slides as numbers, with all that a simulation reads.
json full_model(bool banks) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  auto model = load_hardware_model({path, read_file(path).value()},
                                   {{"NUM_SRAM", "4"}, {"SRAM_SIZE_KIB", "256"}});
  json out = model->merged();
  strip_sources(out);
  out["launch_us"] = 3;
  out["drain_us"] = 1;
  out["run_us"] = 5;
  out["build_ms"] = 2;
  for (json& unit : out["mem_units"]) {
    unit["latency_cycles"] = 5;
    unit["leakage_mW"] = 1;
    unit["area_mm2"] = 2;
    unit["ways"] = 4;
    unit["clock_mhz"] = 500;
  }
  out["mem_units"]["DRAM"]["line_bytes"] = 24;
  json& sram = out["mem_units"]["SRAM"];
  if (banks) {
    sram["banks"] = 6;
    sram["bank_bytes"] = 4;
  } else {
    sram["read_bytes_per_cycle"] = 8;
    sram["write_bytes_per_cycle"] = 8;
  }
  for (json& unit : out["exec_units"]) {
    unit["overhead_cycles"] = 3;
    unit["leakage_mW"] = 1;
    unit["area_mm2"] = 2;
    unit["clock_mhz"] = 500;
    for (const char* key :
         {"vector_bytes", "vector_registers", "fma_latency_cycles", "max_threads"})
      unit[key] = 8;
  }
  for (json& unit : out["tx_units"]) {
    unit["latency_cycles"] = 3;
    unit["pJ_per_byte"] = 1;
    unit["leakage_mW"] = 1;
    unit["area_mm2"] = 2;
    unit["clock_mhz"] = 500;
  }
  for (json& bus : out["buses"]) {
    bus["latency_cycles"] = 3;
    bus["pJ_per_byte"] = 1;
    bus["clock_mhz"] = 500;
  }
  give_energy(out, "CONV", "DSP");
  return out;
}

// A template as it is.
json model_of(const std::string& name, const TemplateSettings& settings,
              const std::string& products, const std::string& rest) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/" + name + ".json";
  auto model = load_hardware_model({path, read_file(path).value()}, settings);
  json out = model->merged();
  strip_sources(out);
  give_energy(out, products, rest);
  return out;
}

// All that a simulation says of the networks on a model.
std::string said(const json& model_json, const std::string& pipeline) {
  static const EvaluateIntrinsic evaluator = evaluate;
  auto model = load_hardware_model({"model.json", model_json.dump()});
  if (!model.ok()) return model.status().to_string();
  auto steps = parse_pipeline({"pipeline.json", pipeline}, {}, *model, passes::pass_registry());
  if (!steps.ok()) return steps.status().to_string();
  std::string out;
  for (const Network& network : kNetworks) {
    auto parsed = tile::parse({"network", network.text});
    auto bound = tile::bind_program(*parsed, "", network.inputs);
    auto program = lower(*bound);
    PipelineOptions how;
    how.evaluate = &evaluator;
    auto reports = run_pipeline(*program, *steps, *model, how);
    if (!reports.ok()) {
      out += reports.status().to_string();
      continue;
    }
    auto run = simulate_part(*program, *program->main(), *model);
    if (!run.ok()) {
      out += run.status().to_string();
      continue;
    }
    SimulationReport report;
    report.parts.push_back({"main", std::move(run).value()});
    // What the report repeats of the model is no effect.
    json seen = json::parse(report_json(report));
    seen.erase("clock_mhz");
    for (json& part : seen["parts"])
      for (json& channel : part["channels"]) channel.erase("peak_bytes_per_cycle");
    out += seen.dump();
  }
  return out;
}

TEST(Knobs, EachLeafOfTheModelMattersOrIsDeclaredInert) {
  std::map<std::string, bool> matters;
  const auto pipeline = [](const std::string& name) {
    return read_file(STRIA_SOURCE_DIR "/plugins/sim/passes/" + name + ".json").value();
  };
  const Shipped all[] = {
      {full_model(false), pipeline("slides")},
      {full_model(true), pipeline("slides")},
      {full_model(false), pipeline("slides_spread")},
      {model_of("slides_systolic", {{"SRAM_SIZE_KIB", "256"}}, "CONV", "DSP"),
       pipeline("scratchpad")},
      {model_of("tpu_like",
                {{"UB_KIB", "64"}, {"ROWS", "8"}, {"COLS", "16"}, {"ACCUMULATORS", "64"}}, "MXU",
                "VPU"),
       pipeline("scratchpad")},
      {model_of("eyeriss_like", {{"ROWS", "2"}, {"COLS", "3"}, {"GLB_KIB", "8"}}, "PE", "PE"),
       pipeline("scratchpad")}};
  for (const auto& [model, steps] : all) {
    const std::string before = said(model, steps);
    ASSERT_THAT(before, testing::HasSubstr("\"cycles\"")) << before;
    const json leaves = model.flatten();
    for (const auto& [pointer, value] : leaves.items()) {
      if (!value.is_number()) continue;
      bool& effect = matters[model["name"].get<std::string>() + pointer];
      if (effect) continue;
      // One more, and one less: more of what is there in plenty changes nothing.
      std::vector<json> others;
      if (!value.is_number_integer() || value.get<int64_t>() >= 3) {
        others = {value.get<double>() / 2};
      } else {
        others = {value.get<int64_t>() + 1};
        if (value.get<int64_t>() > 1) others.push_back(value.get<int64_t>() - 1);
      }
      for (const json& other : others) {
        if (effect) break;
        json changed = model;
        changed[json::json_pointer(pointer)] = other;
        effect = said(changed, steps) != before;
      }
    }
  }
  EXPECT_GE(matters.size(), 80u);
  for (const auto& [pointer, effect] : matters)
    EXPECT_NE(effect, is_inert(pointer))
        << pointer << (effect ? " is declared inert, but matters" : " has no effect");
}

}  // namespace
}  // namespace stria::sim
