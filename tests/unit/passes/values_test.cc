// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "stria/base/text.h"
#include "stria/interp/interpret.h"
#include "stria/passes/all_passes.h"
#include "tile_case.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

// Kernels of up to 3 values of an index in a row are written out, for each name that the generator
// gives indices; with views for every second one.
std::string unroll_pipeline() {
  std::vector<std::string> steps;
  for (const char* index : {"i", "j", "k", "l", "m", "x", "y", "i0", "i1", "i2"})
    steps.push_back(fmt::format(
        R"({{"unroll": {{"reqs": ["kernel"], "expand_idx": "{}", "max_points": 3, "make_views": {},
            "part_name": "part"}}}})",
        index, steps.size() % 2 == 1));
  return "[" + join(steps, ", ") + "]";
}

// Every pass, alone or with what it needs before it, with options that make small programs take its
// paths.
const std::map<std::string, std::string> kPipelines = {
    {"prune", R"([{"prune": {}}])"},
    {"tile by role", R"([{"tile": {"balance": true, "order": "reuse",
        "output_vector": {"vectors": 1, "output": [2, 3], "other_output": 1, "reduction": 2},
        "reduction_vector": {"vectors": 1, "output": [2], "other_output": 1, "reduction": 1},
        "scalar": {"output": [2, 2], "other_output": 1, "reduction": 1}}}])"},
    {"tile twice",
     R"([{"tile": {"inner_set": ["a"], "scalar": {"output": [3], "other_output": 2, "reduction": 2},
        "output_vector": {"output": [3], "other_output": 2, "reduction": 2},
        "reduction_vector": {"output": [3], "other_output": 2, "reduction": 2}}},
        {"tile": {"reqs": ["a"], "order": "stride", "scalar": {"output": [2], "other_output": 1, "reduction": 1},
        "output_vector": {"vectors": 1, "output": [2], "other_output": 1, "reduction": 1},
        "reduction_vector": {"vectors": 1, "output": [2], "other_output": 1, "reduction": 1}}},
        {"prune": {}}])"},
    {"tile by cost", R"([{"autotile": {"memory": "L2", "inner_set": ["a"], "fail_inner_set": ["a"],
        "border_cost": 0.5}},
        {"autotile": {"reqs": ["a"], "max_points": 12, "search": "ascend", "copy_tags": true}},
        {"split_interior": {"expensive": []}}, {"prune": {}}])"},
    {"tile interleaved",
     R"([{"autotile": {"max_points": 7, "only_multiple_of": 2, "interleave": true,
        "fail_outer_set": ["large"]}}, {"prune": {}}])"},
    {"vectorize", R"([{"vectorize": {"min_range": 2}}, {"unroll": {}}])"},
    {"thread", R"([{"thread": {"min_work": 1, "points_per_core": 1}}])"},
    {"own rows", R"([{"order_indices": {}}, {"vectorize": {"min_range": 2}},
        {"owner_computes": {"min_work": 1, "points_per_core": 1}}, {"split_interior": {}}, {"prune": {}}])"},
    {"reduction in parts", R"([{"order_indices": {}},
        {"block_reduction": {"reqs": ["kernel"], "min_steps": 1, "percent": 1, "only_if_shorter": false,
         "min_range": 2, "parts_per_core": 1}},
        {"tile": {"reqs": ["reduction_part"], "inner_set": ["tile"], "order": "reuse",
         "output_vector": {"vectors": 1, "output": [2], "other_output": 1}}},
        {"tile": {"reqs": ["tile"], "output_vector": {"vectors": 1, "output": [2], "reduction": 1}}},
        {"vectorize": {"min_range": 2, "reduction_inside": "reduction_part"}},
        {"thread": {"min_work": 1, "points_per_core": 2}}, {"unroll": {}}, {"split_interior": {}},
        {"agg_init": {"cut": true}}, {"prune": {}}])"},
    {"packed inputs",
     R"([{"pack_inputs": {"reqs": ["kernel"], "reads": 1, "memory": "DRAM", "min_range": 2}}])"},
    {"agg_init", R"([{"agg_init": {}}])"},
    {"agg_init inside", R"([{"thread": {"min_work": 1, "points_per_core": 1}},
        {"tile": {"reqs": ["kernel"], "scalar": {"output": [2], "reduction": 1}}}, {"agg_init": {}}])"},
    {"border", R"([{"prune": {}}, {"tile": {"inner_set": ["a"],
        "scalar": {"output": [3], "other_output": 2, "reduction": 2},
        "output_vector": {"output": [3], "other_output": 2, "reduction": 2},
        "reduction_vector": {"output": [3], "other_output": 2, "reduction": 2}}},
        {"thread": {"min_work": 1, "points_per_core": 1}}, {"unroll": {"reqs": ["a"], "max_points": 1000}},
        {"split_interior": {"max_parts": 40}}, {"agg_init": {}}, {"prune": {}}])"},
    {"buffers",
     R"([{"localize": {}}, {"scalarize": {}}, {"locate_memory": {"loc": {"name": "DRAM"}}},
        {"locate_block": {"loc": {"name": "CORE"}}}])"},
    {"dependencies", R"([{"compute_deps": {"inside": true}}])"},
    {"dead code", R"([{"dead_code": {}}])"},
    {"layouts", R"([{"choose_layouts": {}}])"},
    {"folding", R"([{"constant_fold": {}}, {"common_subexpression": {}}, {"dead_code": {}}])"},
    {"folding by dependencies", R"([{"compute_deps": {"inside": true}}, {"constant_fold": {}},
        {"common_subexpression": {}}, {"dead_code": {}}, {"reorder_blocks": {}}, {"prune": {}}])"},
    {"constraints", R"([{"tile": {"inner_set": ["a"],
        "scalar": {"output": [3], "other_output": 2, "reduction": 2},
        "output_vector": {"output": [3], "other_output": 2, "reduction": 2},
        "reduction_vector": {"output": [3], "other_output": 2, "reduction": 2}}},
        {"constraint_reduction": {}}, {"compute_deps": {"reqs": ["a"], "inside": true}}])"},
    {"layout", R"([{"reorder_blocks": {}}, {"transpose": {}}, {"order_indices": {}},
        {"vectorize": {"min_range": 2}}])"},
    {"interior everywhere", R"([{"tile": {"inner_set": ["a"],
        "scalar": {"output": [3], "other_output": 2, "reduction": 2},
        "output_vector": {"output": [3], "other_output": 2, "reduction": 2},
        "reduction_vector": {"output": [3], "other_output": 2, "reduction": 2}}},
        {"split_interior": {"expensive": [], "max_parts": 40, "interior_set": ["interior"],
        "border_set": ["border"]}}, {"constraint_reduction": {}}])"},
    {"fusion", R"([{"fusion": {"recompute": "always"}}, {"localize": {}}, {"scalarize": {}}])"},
    {"fusion inside",
     R"([{"reorder_blocks": {}}, {"fusion": {"recompute": "always", "reductions": true,
        "local": true}}, {"prune": {}}])"},
    {"fusion of tiles", R"([{"tile": {"scalar": {"output": [2, 2], "other_output": 2},
        "output_vector": {"output": [2, 2], "other_output": 2},
        "reduction_vector": {"output": [2, 2], "other_output": 2}}},
        {"fusion": {"recompute": "always", "local": true}}, {"agg_init": {}}])"},
    {"locations", R"([{"thread": {"min_work": 1, "points_per_core": 1}},
        {"locate_block": {"inside": true, "reqs": ["kernel"], "loc": {"name": "CORE", "units": [1]}}},
        {"rewrite_locations": {"rewrites": [{"prefix": {"name": "*", "units": [1]},
        "target": {"name": "CORE", "units": [0]}}]}}])"},
};

TEST(Values, EveryPassKeepsThemOnRandomPrograms) {
  std::map<std::string, int64_t> counters;
  int programs = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    differential::GeneratedProgram generated = differential::generate(seed);
    std::map<std::string, tile::TensorType> inputs;
    std::map<std::string, std::vector<Scalar>> values;
    for (size_t i = 0; i < generated.inputs.size(); ++i) {
      inputs[generated.inputs[i].name] = {generated.inputs[i].type, generated.inputs[i].sizes};
      values[generated.inputs[i].name] = generated.input_values[i];
    }
    auto program = make_program(generated.tile_text(), inputs, values);
    if (!program.ok()) continue;
    ++programs;
    for (int64_t vector_bytes : {8, 16}) {
      // With few registers tiles are small, and what they read is read again.
      const HardwareModel model = small_model(vector_bytes, 8), few = small_model(vector_bytes, 4);
      for (const auto& [name, pipeline] : kPipelines)
        ASSERT_EQ(wrong_step(pipeline, {}, name == "reduction in parts" ? few : model, *program,
                             &counters),
                  "")
            << "seed " << seed << ", pipeline '" << name << "', vectors of " << vector_bytes
            << " bytes\n"
            << generated.tile_text();
      ASSERT_EQ(wrong_step(unroll_pipeline(), {}, model, *program, &counters), "")
          << "seed " << seed << ", unroll by index\n"
          << generated.tile_text();
      ASSERT_EQ(wrong_step(cpu_pipeline(), {{"MIN_WORK", "1"}}, model, *program, &counters), "")
          << "seed " << seed << ", the CPU's pipeline\n"
          << generated.tile_text();
    }
  }
  EXPECT_GT(programs, 100);
  std::cout << programs << " programs\n";
  for (const auto& [name, count] : counters) std::cout << "  " << name << ": " << count << "\n";
  // A pass that never did anything was not tested.
  for (const char* must : {"compute_deps: dependencies",
                           "constant_fold: identities_dropped",
                           "constraint_reduction: constraints_dropped",
                           "constraint_reduction: ranges_shrunk",
                           "dead_code: statements_removed",
                           "unroll: copies",
                           "block_reduction: reductions_cut",
                           "pack_inputs: inputs_packed",
                           "transpose: changed",
                           "fusion: pairs_fused",
                           "reorder_blocks: changed",
                           "rewrite_locations: changed",
                           "locate_block: changed",
                           "autotile: blocks_tiled",
                           "vectorize: kernels_vectorized",
                           "vectorize: reductions_vectorized",
                           "thread: kernels_threaded",
                           "owner_computes: kernels_spread",
                           "split_interior: loops_split",
                           "agg_init: identities_written",
                           "agg_init: plain_stores",
                           "agg_init: running_values_widened",
                           "prune: things_removed"})
    EXPECT_GT(counters[must], 0) << must;
}

TEST(Values, OwnedRowsSumInTheSameOrderForAnyNumberOfParts) {
  const std::string text = "function (E, I, V) -> (R) { R = scatter(E, I, V); }";
  auto program = make_program(text, {{"E", {DataType::fp32, {300, 5}}},
                                     {"I", {DataType::i32, {300}}},
                                     {"V", {DataType::fp32, {11}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const HardwareModel model = small_model(16, 8);
  std::vector<uint8_t> first;
  for (int parts = 1; parts <= 6; ++parts) {  // for each of 2 cores
    auto steps = parse_pipeline({"pipeline", fmt::format(R"([{{"order_indices": {{}}}},
            {{"owner_computes": {{"min_work": 1, "points_per_core": {}}}}}])",
                                                         parts)},
                                {}, model, pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().to_string();
    stripe::Program spread = program->generic;
    auto reports = run_pipeline(spread, *steps, model, {.verify_each = true});
    ASSERT_TRUE(reports.ok()) << reports.status().to_string();
    EXPECT_EQ(reports->back().counters.at("kernels_spread"), 1);
    std::vector<uint8_t> result(11 * 5 * 4);
    std::vector<interp::TensorArg> args;
    for (TestTensor& input : program->inputs) args.push_back(input.arg());
    args.push_back({"R", result.data(), dense_shape(DataType::fp32, {11, 5})});
    Status status = interp::interpret(spread, args);
    ASSERT_TRUE(status.ok()) << status.to_string();
    if (parts == 1) first = result;
    EXPECT_EQ(result, first) << parts;
  }
}

}  // namespace
}  // namespace stria::passes
