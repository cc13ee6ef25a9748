// SPDX-License-Identifier: Apache-2.0
// The cost `staged_time`, by which the shipped pipelines choose tiles of products, beside what the
// simulator finds for the tile that was chosen. tools/bench/sim/sim_regret_bench.cc looks at the
// other tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "program/part_simulation.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/builtins/evaluate.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::sim {
namespace {

struct Case {
  const char *model, *pipeline, *step;
  TemplateSettings settings;
  const char *from = "", *to = "";  // a piece of the model that is replaced
};

double number_after(const std::string& text, const std::string& what) {
  const size_t at = text.find(what);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + what.size()));
}

// The tile of autotile is what tells: no product becomes a chain.
std::string without_chains(const std::string& pipeline) {
  return std::regex_replace(pipeline, std::regex("\"at_most\": [0-9.]+"), "\"at_most\": 0");
}

TEST(StagedTime, IsWhatTheSimulatorFinds) {
  static const EvaluateIntrinsic evaluator = evaluate;
  const char* const kRates =
      R"("read_bytes_per_cycle": {{ ROWS }}, "write_bytes_per_cycle": {{ COLS }},)";
  const Case cases[] = {
      {"stripe_slides", "slides", "bank_CONV", {}},
      {"stripe_slides", "slides", "bank_CONV", {{"DRAM_BYTES", "4"}}},
      {"slides_systolic", "slides", "bank_CONV", {}},
      {"slides_systolic", "slides", "bank_CONV", {{"DATAFLOW", "os"}, {"NUM_SRAM", "2"}}},
      {"tpu_like", "scratchpad", "tile_products", {{"UB_KIB", "256"}}},
      {"tpu_like",
       "scratchpad",
       "tile_products",
       {{"UB_KIB", "256"}, {"ROWS", "32"}, {"COLS", "16"}}},
      {"stripe_slides", "scratchpad", "tile_products", {{"SRAM_SIZE_KIB", "16"}}},
      {"slides_systolic", "scratchpad", "tile_products", {{"SRAM_SIZE_KIB", "32"}}},
      // Sums that leave the array after each fold; few accumulators.
      {"slides_systolic", "scratchpad", "tile_products", {{"ACCUMULATORS", "0"}}},
      {"slides_systolic", "scratchpad", "tile_products", {{"ACCUMULATORS", "40"}}},
      // A port for all; ports by operand.
      {"tpu_like",
       "scratchpad",
       "tile_products",
       {{"UB_KIB", "256"}, {"ROWS", "32"}, {"COLS", "32"}},
       kRates,
       R"("ports": [{"bytes_per_cycle": 64, "serves": ["reads", "writes"]}],)"},
      {"tpu_like",
       "scratchpad",
       "tile_products",
       {{"UB_KIB", "256"}, {"ROWS", "32"}, {"COLS", "32"}},
       kRates,
       R"("ports": [{"bytes_per_cycle": 16, "serves": ["first", "copy_in"]},
                    {"bytes_per_cycle": 8, "serves": ["second", "results"]},
                    {"bytes_per_cycle": 32, "serves": ["copy_out"]}],)"},
      {"eyeriss_like", "scratchpad", "tile_products", {}}};
  const std::pair<const char*, std::map<std::string, tile::TensorType>> programs[] = {
      {"function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
       {{"A", {DataType::i8, {512, 512}}}, {"B", {DataType::i8, {512, 512}}}}},
      {"function (I[X, Y, C], K[A, B, C, M]) -> (S) {\n"
       "  S[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n}",
       {{"I", {DataType::i8, {56, 56, 64}}}, {"K", {DataType::i8, {3, 3, 64, 64}}}}}};
  for (const Case& one : cases)
    for (const auto& [text, inputs] : programs) {
      const std::string hw = STRIA_SOURCE_DIR "/hwmodels/templates/" + std::string(one.model) +
                             ".json",
                        passes = STRIA_SOURCE_DIR "/plugins/sim/passes/" +
                                 std::string(one.pipeline) + ".json";
      SCOPED_TRACE(hw + ": " + text);
      std::string text_of_model = read_file(hw).value();
      const std::string from = one.from;
      const size_t at = text_of_model.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      text_of_model.replace(at, from.size(), one.to);
      // And the line that says where it is from.
      if (const size_t line = text_of_model.find("\"read_bytes_per_cycle\": \""); !from.empty())
        text_of_model.erase(line, text_of_model.find('\n', line) - line);
      auto model = load_hardware_model({hw, text_of_model}, one.settings);
      ASSERT_TRUE(model.ok()) << model.status().to_string();
      auto steps = parse_pipeline({passes, without_chains(read_file(passes).value())}, {}, *model,
                                  passes::pass_registry());
      ASSERT_TRUE(steps.ok()) << steps.status().to_string();
      auto parsed = tile::parse({"network", text});
      auto bound = tile::bind_program(*parsed, "", inputs);
      auto program = lower(*bound);
      PipelineOptions how;
      how.evaluate = &evaluator;
      how.explain = "autotile";
      auto reports = run_pipeline(*program, *steps, *model, how);
      ASSERT_TRUE(reports.ok()) << reports.status().to_string();
      double told = -1;
      for (const StepReport& report : *reports)
        if (report.step == one.step)
          for (const std::string& note : report.notes)
            if (told < 0) told = number_after(note, " cycles=");
      auto run = simulate_part(*program, *program->main(), *model);
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      const auto found = static_cast<double>(run->machine.cycles(run->ticks()));
      EXPECT_NEAR(told / found, 1, 0.1) << told << " told, " << found << " simulated";
    }
}

}  // namespace
}  // namespace stria::sim
