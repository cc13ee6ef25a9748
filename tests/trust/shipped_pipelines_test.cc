// SPDX-License-Identifier: Apache-2.0
// Every pipeline that a plugin ships, on generated programs, with that plugin's hardware model: the
// program is legal after each step, for that model, and computes the same in the end.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "settings.h"
#include "shipped_pipelines.h"
#include "stria/base/text.h"
#include "stria/builtins/evaluate.h"
#include "stria/passes/all_passes.h"
#include "tile_case.h"
#include "tile_program.h"

namespace stria::trust {
namespace {

const EvaluateIntrinsic kEvaluate = evaluate;

// Long enough that something depends on constants alone, and that layouts meet.
const differential::GeneratorOptions kHow = {
    .min_statements = 2, .max_statements = 8, .reuse_percent = 80, .main_type_percent = 60};

// The tags that a step looks for and sets: texts in options whose names end so.
void add_tags(const nlohmann::json& value, bool tags, std::set<std::string>& out) {
  if (value.is_string() && tags) out.insert(value.get<std::string>());
  if (value.is_array())
    for (const nlohmann::json& one : value) add_tags(one, tags, out);
  if (value.is_object())
    for (auto it = value.begin(); it != value.end(); ++it) {
      const std::string& key = it.key();
      add_tags(*it,
               key.ends_with("reqs") || key.ends_with("set") || key.ends_with("set_tags") ||
                   key.ends_with("exclude") || key == "part_name" || key == "idx_tag",
               out);
    }
}

// "tile" and "tiles" are two names of which a reader sees one.
TEST(ShippedPipelines, TagsDifferByMoreThanALetter) {
  const Result<std::vector<Shipped>> shipped_all = shipped_pipelines();
  ASSERT_TRUE(shipped_all.ok()) << shipped_all.status().to_string();
  size_t seen = 0;
  for (const Shipped& shipped : *shipped_all) {
    auto steps = parse_pipeline({shipped.name, shipped.pipeline}, shipped.settings, shipped.model,
                                passes::pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().to_string();
    EXPECT_TRUE(steps->notes.empty()) << shipped.name << ": " << steps->notes.front();
    // Its tags are those that the slides print.
    if (shipped.name.ends_with("slides.json")) continue;
    std::set<std::string> tags;
    for (const PipelineStep& step : steps->steps)
      add_tags(nlohmann::json::parse(step.json), false, tags);
    seen += tags.size();
    for (const std::string& tag : tags)
      for (const std::string& other : tags) {
        if (!(tag < other)) continue;
        EXPECT_GT(edit_distance(tag, other), 1U)
            << shipped.name << ": '" << tag << "' and '" << other << "'";
      }
  }
  EXPECT_GT(seen, 40U);
}

TEST(ShippedPipelines, KeepTheValuesOfGeneratedPrograms) {
  const Result<std::vector<Shipped>> shipped_all = shipped_pipelines();
  ASSERT_TRUE(shipped_all.ok()) << shipped_all.status().to_string();
  const std::vector<Shipped>& all = *shipped_all;
  ASSERT_GE(all.size(), 5u);
  const uint64_t first = number_from("STRIA_TRUST_SEED", 1);
  const uint64_t count = number_from("STRIA_TRUST_PROGRAMS", 500);
  std::map<std::string, int64_t> changed, refused;
  for (const Shipped& shipped : all) {
    auto steps = parse_pipeline({shipped.name, shipped.pipeline}, shipped.settings, shipped.model,
                                passes::pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().to_string();
    PipelineOptions how;
    how.verify_each = true;
    how.evaluate = &kEvaluate;
    how.after_step = [&](int, const StepReport& report, const stripe::Program&) {
      changed[shipped.name + ", step " + report.step] += report.changed;
    };
    for (uint64_t seed = first; seed < first + count; ++seed) {
      const differential::GeneratedProgram generated = differential::generate(seed, kHow);
      std::map<std::string, tile::TensorType> types;
      std::map<std::string, std::vector<Scalar>> values;
      for (size_t n = 0; n < generated.inputs.size(); ++n) {
        const differential::GeneratedTensor& input = generated.inputs[n];
        types[input.name] = {input.type, input.sizes};
        values[input.name] = generated.input_values[n];
      }
      auto program = passes::make_program(generated.tile_text(), types, values);
      ASSERT_TRUE(program.ok()) << generated.tile_text() << program.status().to_string();
      passes::mark_constants(program->generic, seed);
      stripe::Program device = program->generic;
      const auto reports = run_pipeline(device, *steps, shipped.model, how);
      // A memory that a program does not fit into.
      const StatusCode code = reports.status().code();
      if (code == StatusCode::unsupported || code == StatusCode::out_of_range) {
        ++refused[shipped.name];
        continue;
      }
      std::string wrong =
          reports.ok() ? passes::wrong_values(device, *program) : reports.status().to_string();
      // Which step it was.
      if (reports.ok() && !wrong.empty())
        wrong = passes::wrong_step(shipped.pipeline, shipped.settings, shipped.model, *program);
      ASSERT_EQ(wrong, "") << shipped.name << ", seed " << seed << "\n" << generated.tile_text();
    }
  }
  std::cout << count << " programs; how often each step changed something:\n";
  for (const auto& [step, times] : changed) std::cout << "  " << step << ": " << times << "\n";
  for (const auto& [name, times] : refused) {
    std::cout << "  " << name << ": refused " << times << "\n";
    EXPECT_LE(times * 10, static_cast<int64_t>(count)) << name << " refuses too much";
  }
  for (const char* must : {"split_prologue", "layouts", "thread", "agg_init", "tile_registers"})
    EXPECT_TRUE(std::any_of(changed.begin(), changed.end(), [&](const auto& step) {
      return step.second > 0 && step.first.find(std::string("step ") + must) != std::string::npos;
    })) << must;
}

}  // namespace
}  // namespace stria::trust
