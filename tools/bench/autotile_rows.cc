// SPDX-License-Identifier: Apache-2.0
#include "autotile_rows.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "must.h"
#include "resnet50.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/rewrite/kernel_alone.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/printer.h"
#include "stria/tile/syntax/parser.h"

namespace stria::bench {
namespace {

constexpr double kGoal = 5;  // ms for a kernel

const char kModel[] = R"({
  "name": "both", "clock_mhz": 2000,
  "mem_units": {"DRAM": {"count": 1, "size_KiB": 8388608, "policy": "managed", "latency_cycles": 400,
                         "read_bytes_per_cycle": 3168},
                "LOCAL": {"count": 132, "size_KiB": 48, "policy": "managed", "latency_cycles": 30},
                "REG": {"count": 33792, "size_KiB": 1, "policy": "managed"},
                "L2": {"count": 2, "size_KiB": 1024, "policy": "lru", "line_bytes": 64, "ways": 16},
                "L1": {"count": 2, "size_KiB": 48, "policy": "lru", "line_bytes": 64, "ways": 12}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32, "fma_latency_cycles": 4},
                 "CU": {"count": 132, "ops_per_cycle": 128, "op": "mac", "max_threads": 2048}},
  "settings": {"threads": 256, "mem_width": 32, "max_mem": 49152, "max_regs": 65536, "goal_groups": 128,
               "goal_flops_per_byte": 30, "source": "round numbers of a large GPU"}
})";

// One program for each contraction that differs from those before it in more than names.
std::vector<stripe::Program> contractions() {
  const ResNet50 net = resnet50({.folded = false, .repeat = 1});
  const tile::Program parsed = must(tile::parse({"resnet50.tile", net.text}));
  const stripe::Program all = must(lower(must(tile::bind_program(parsed, "", net.inputs))));
  const HardwareModel model = must(load_hardware_model({"model", kModel}));
  const Pipeline order = must(
      parse_pipeline({"order", R"([{"order_indices": {}}])"}, {}, model, passes::pass_registry()));
  std::vector<stripe::Program> out;
  std::set<std::vector<int64_t>> seen;  // ranges and strides
  for (const stripe::Statement& statement : all.main()->stmts) {
    const stripe::Block* kernel = statement.block();
    if (!kernel || !kernel->tags.has(stripe::tag::kContraction)) continue;
    std::vector<int64_t> shape;
    for (const stripe::Index& index : kernel->idxs) shape.push_back(index.range);
    for (const stripe::Refinement& ref : kernel->refs)
      for (const stripe::Index& index : kernel->idxs)
        shape.push_back(ref.flat_access().coefficient(index.name));
    if (!seen.insert(shape).second) continue;
    out.push_back(must(passes::kernel_alone(all, *kernel, *kernel)));
    must(run_pipeline(out.back(), order, model));
  }
  return out;
}

}  // namespace

void print_autotile_rows(int rounds) {
  const HardwareModel model = must(load_hardware_model({"model", kModel}));
  const std::vector<stripe::Program> programs = contractions();
  std::printf("\nautotile, one choice, over %zu different contractions, ms\n", programs.size());
  std::printf("%-48s %10s %10s   %s\n", "", "mean", "slowest", "");
  const struct {
    const char *name, *options;
  } kRows[] = {
      {"traffic, exhaustive", R"("cost": "traffic")"},
      {"traffic, exhaustive, into L2", R"("cost": "traffic", "memory": "L2", "max_tiles": 100000)"},
      {"traffic, exhaustive, into L1", R"("cost": "traffic", "memory": "L1")"},
      {"traffic, ascend", R"("cost": "traffic", "search": "ascend")"},
      {"roofline_occupancy, exhaustive", R"("cost": "roofline_occupancy")"},
      {"roofline_occupancy, exhaustive, only_even",
       R"("cost": "roofline_occupancy", "only_even": true)"},
      {"roofline_occupancy, ascend", R"("cost": "roofline_occupancy", "search": "ascend")"},
      {"registers, exhaustive", R"("cost": "registers")"},
      {"group_time, exhaustive", R"("cost": "group_time", "unit": "CU", "pipeline_depth": 2,
                                    "parts": true, "direct": true)"},
  };
  for (const auto& row : kRows) {
    const Pipeline pipeline = must(parse_pipeline(
        {"autotile",
         fmt::format(R"([{{"autotile": {{"reqs": ["contraction"], {}}}}}])", row.options)},
        {}, model, passes::pass_registry()));
    double sum = 0, slowest = 0;
    std::string slowest_name;
    for (const stripe::Program& program : programs) {
      double best = 1e9;
      for (int round = 0; round < rounds; ++round) {
        stripe::Program copy = program;
        best = std::min(best, must(run_pipeline(copy, pipeline, model))[0].milliseconds);
      }
      sum += best;
      if (best <= slowest) continue;
      slowest = best;
      slowest_name.clear();
      for (const stripe::Index& index : program.main()->stmts[0].block()->idxs)
        if (index.range > 1) slowest_name += fmt::format(" {}:{}", index.name, index.range);
    }
    std::printf("%-48s %10.3f %10.3f   %s%s\n", row.name,
                sum / static_cast<double>(programs.size()), slowest,
                slowest < kGoal ? "< 5 ms  met   " : "< 5 ms  MISSED", slowest_name.c_str());
    std::fflush(stdout);
  }
}

}  // namespace stria::bench
