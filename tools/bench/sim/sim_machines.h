// SPDX-License-Identifier: Apache-2.0
// The simulated machines on which mappings are compared: models that ship, and the pipeline that
// serves all of them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "must.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"

namespace stria::bench {

struct SimMachine {
  const char* model;
  int64_t traffic_bytes;  // limit of a tile with the cost `traffic`: two of them share the memory
  TemplateSettings settings;

  std::string name() const {
    std::string out = model;
    for (const auto& [key, value] : settings) out += " " + key + "=" + value;
    return out;
  }
  HardwareModel load() const {
    const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/" + std::string(model) + ".json";
    return must(load_hardware_model({path, must(read_file(path))}, settings));
  }
};

inline std::vector<SimMachine> sim_machines() {
  return {{"stripe_slides", 32 << 10, {}},
          {"slides_systolic", 64 << 10, {}},
          {"slides_systolic", 128 << 10, {{"DATAFLOW", "os"}, {"NUM_SRAM", "2"}}},
          // With a buffer in which most of these layers do not fit whole.
          {"tpu_like", 128 << 10, {{"UB_KIB", "256"}}},
          {"eyeriss_like", 54 << 10, {}}};
}

// The TEXT of `[--only TEXT]`, "" without it; ends the process with 2 for anything else.
inline std::string only_of(int argc, char** argv) {
  if (argc == 1) return "";
  if (argc == 3 && std::strcmp(argv[1], "--only") == 0) return argv[2];
  std::fprintf(stderr, "usage: %s [--only TEXT]\n", argv[0]);
  std::exit(2);
}

// The pipeline of the plugin `sim`, which serves any model.
inline constexpr const char* kSimPipeline = "scratchpad";
inline Pipeline sim_pipeline(const HardwareModel& model, const TemplateSettings& settings = {}) {
  const std::string path =
      STRIA_SOURCE_DIR "/plugins/sim/passes/" + std::string(kSimPipeline) + ".json";
  return must(
      parse_pipeline({path, must(read_file(path))}, settings, model, passes::pass_registry()));
}
inline PipelineOptions sim_pipeline_options() {
  static const EvaluateIntrinsic evaluator = evaluate;
  PipelineOptions how;
  how.evaluate = &evaluator;
  return how;
}

}  // namespace stria::bench
