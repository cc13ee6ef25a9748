// SPDX-License-Identifier: Apache-2.0
// What `group_time` takes copies into local memory for, and what `cache` and `thread_lanes` make of
// them:
// the same bytes, and as many rounds of lanes, of vectors or of elements. Rows that begin at
// multiples of a vector only because each second of them is read (31 channels, 4 apart) count as
// elements and are none here.
#include <gtest/gtest.h>

#include <random>

#include "stria/base/text.h"
#include "stria/cost/workgroup/group_copies.h"
#include "stria/cost/workgroup/group_work.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/printer.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// The banks of local memory: those of GPUs, or one as wide as a line of a processor's cache.
struct Banks {
  int64_t count, bytes;
};

HardwareModel group_model(const Banks& banks) {
  const std::string text = fmt::format(R"({{
      "mem_units": {{"DRAM": {{"size_KiB": 65536, "line_bytes": 128}},
                    "LOCAL": {{"size_KiB": 4096, "banks": {}, "bank_bytes": {},
                              "policy": "managed"}},
                    "REG": {{"count": 1}}}},
      "exec_units": {{"CU": {{"count": 4}}, "LANE": {{"count": 1}}}}}})",
                                       banks.count, banks.bytes);
  auto model = load_hardware_model({"groups", text});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

// Of all copies into local memory.
struct Made {
  double instructions = 0, local_bytes = 0;
};

void add_copies(const Block& block, Made& made) {
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::none && !ref.location.empty() && ref.location.path[0].name == "LOCAL")
      made.local_bytes += static_cast<double>(ceil_div(ref.shape.span_bytes(), 64) * 64);
  const bool copies = block.tags.has("copy") &&
                      std::any_of(block.refs.begin(), block.refs.end(), [](const Refinement& ref) {
                        return ref.dir == RefDir::out && !ref.location.empty() &&
                               ref.location.path[0].name == "LOCAL";
                      });
  for (const stripe::Statement& stmt : block.stmts) {
    const Block* inner = stmt.block();
    if (!inner) continue;
    if (!copies) {
      add_copies(*inner, made);
      continue;
    }
    double rounds = 1;
    for (const stripe::Index& index : inner->idxs) rounds *= static_cast<double>(index.range);
    const Block* vector = inner->stmts[0].block();
    bool across = false;
    if (vector)
      for (const Refinement& ref : vector->refs)
        across = across || ref.flat_access().coefficient(vector->idxs[0].name) > 1;
    made.instructions += rounds * (!vector  ? GroupFacts().copy_element_instructions
                                   : across ? GroupFacts().copy_turned_instructions
                                            : GroupFacts().copy_vector_instructions);
  }
}

// "" or how the two differ for the tile.
std::string difference(const std::string& text,
                       const std::map<std::string, tile::TensorType>& inputs,
                       const std::map<std::string, int64_t>& sizes, int64_t threads,
                       const Banks& banks) {
  auto program = lower_text(text, inputs);
  if (!program.ok()) return program.status().to_string();
  const cost::TiledBlock block = cost::tiled_block(*program->main()->stmts[0].block());
  cost::Tile tile;
  std::string tile_sizes;
  for (const auto& index : block.indices) {
    tile.push_back(std::min(index.range, sizes.at(index.name)));
    tile_sizes +=
        fmt::format("{}\"{}\": {}", tile_sizes.empty() ? "" : ", ", index.name, tile.back());
  }
  const std::string pipeline = fmt::format(R"([
    {{"tile": {{"reqs": ["kernel"], "inner_set": ["tile"], "outer_set": ["group"], "always": true,
                    "tile_sizes": {{{}}}}}}},
    {{"tile": {{"reqs": ["group"], "inner_set": ["steps"], "always": true,
                    "scalar": {{"other_output": 1}},
                    "output_vector": {{"vectors": 1, "other_output": 1}}}}}},
    {{"cache": {{"reqs": ["group"], "dir": "out", "loc": {{"name": "REG"}}, "spread": 256}}}},
    {{"cache": {{"reqs": ["steps"], "loc": {{"name": "LOCAL"}}, "layout": "outputs", "edges": "zero_fill"}}}},
    {{"agg_init": {{"reqs": ["group"]}}}},
    {{"thread_lanes": {{"reqs": ["group"], "unit": "LANE", "group_lanes": {}, "run_bytes": 16}}}}])",
                                           tile_sizes, threads);
  const HardwareModel model = group_model(banks);
  auto steps = parse_pipeline({"pipeline", pipeline}, {}, model, pass_registry());
  if (!steps.ok()) return steps.status().to_string();
  if (auto reports = run_pipeline(*program, *steps, model); !reports.ok())
    return reports.status().to_string();
  Made made;
  add_copies(*program->main(), made);
  cost::GroupRates rates;
  rates.line_bytes = static_cast<int64_t>(rates.facts.transaction_bytes);
  rates.bank_bytes = banks.count * banks.bytes;
  const double instructions = cost::group::Copies(block, tile, rates).instructions(threads);
  const double bytes = cost::group::staged_by(block, tile, rates).local_bytes;
  if (made.instructions == instructions && made.local_bytes == bytes) return "";
  return fmt::format("tile {}, {} threads: {} instructions and {} bytes made, {} and {} said\n{}",
                     cost::to_string(block, tile), threads, made.instructions, made.local_bytes,
                     instructions, bytes, stripe::print(*program));
}

TEST(GroupCopies, AreWhatTheCostTakesThemFor) {
  std::mt19937 random(3);
  const auto one_of = [&](std::vector<int64_t> values) {
    return values[std::uniform_int_distribution<size_t>(0, values.size() - 1)(random)];
  };
  for (int round = 0; round < 500; ++round) {
    const int64_t step = one_of({1, 2, 3}), spread = one_of({1, 1, 2});
    const std::string text = fmt::format(
        "function (D[Y, X, C], F[I, J, C, K]) -> (O) {{ O[y, x, k : 16, 16, K] ="
        " +(D[{0} * y + {1} * i, {0} * x + {1} * j, c] * F[i, j, c, k]); }}",
        step, spread);
    const int64_t channels = one_of({32, 64, 31});
    const std::map<std::string, tile::TensorType> inputs = {
        {"D", {DataType::fp32, {64, 64, channels}}},
        {"F", {DataType::fp32, {3, 3, channels, one_of({64, 32})}}}};
    const std::map<std::string, int64_t> sizes = {
        {"y", one_of({1, 2, 4, 8, 16})}, {"x", one_of({1, 2, 4, 8, 16})},
        {"k", one_of({8, 16, 32})},      {"i", one_of({1, 1, 3})},
        {"j", one_of({1, 1, 3})},        {"c", one_of({2, 8, 16, 32})}};
    const Banks banks = round % 4 == 0 ? Banks{1, 64} : Banks{32, 4};
    ASSERT_EQ(difference(text, inputs, sizes, one_of({32, 64, 128, 256}), banks), "")
        << "round " << round << "\n"
        << text;
  }
}

}  // namespace
}  // namespace stria::passes
