// SPDX-License-Identifier: Apache-2.0
// Runs the rows of a set: ours, peers and a probe of the core's speed in turns, results compared,
// one line printed for each.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cases.h"
#include "must.h"
#include "ours.h"
#include "peer.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {

struct Asked {
  std::string set, only, pipeline, dump, sets;
  std::vector<std::string> parameters;  // NAME=VALUE, of the pipeline
  int rounds = 15;
};

// Seconds of one run of each of several things, measured in turns: processor time of the one
// thread, so that other work on the machine counts as little as may be.
struct Samples {
  std::vector<double> median, best;
  size_t kept = 0;  // rounds in which the core was at its speed
};

// Prints the milliseconds that this process takes from text to loaded code, and those of the passes
// when they run again.
int compile_once(const CaseSet& set);

class Bench {
 public:
  Bench(const Asked& asked, const std::vector<std::unique_ptr<PeerLibrary>>& peers);

  nlohmann::json header() const;
  // All rows that were asked for, and the summary.
  nlohmann::json run(const CaseSet& set);

 private:
  struct Row {
    std::string name;
    double times = 1;               // that its network runs it
    double ours_s = 0, best_s = 0;  // of the best peer
    double ratio = 0, ratio_of_best = 0;
    nlohmann::json json;
  };
  using Works = std::vector<std::function<void()>>;

  // `alike`: samples of all works repeat them as often, for works whose times are divided.
  Samples measure(const Works& works, bool alike = false);
  Result<std::unique_ptr<OurProgram>> compile(const Device& device, const Case& what,
                                              const std::string& name) const;
  Result<Row> against_peers(const Case& what, const std::string& name);
  Result<Row> against_memory(const Case& what, const std::string& name);
  Result<Row> step(const Case& what, const std::string& name);
  Result<Row> two_threads(const Case& what) const;
  // Of all cases as one program, in processes of their own with a cache folder that is empty at
  // first.
  nlohmann::json compile_time(const CaseSet& set) const;
  void summarize(const CaseSet& set, const std::vector<Row>& rows, size_t failed,
                 nlohmann::json& out) const;
  CompileOptions options_of(const Case& what) const;

  const Asked& asked_;
  const std::vector<std::unique_ptr<PeerLibrary>>& peers_;
  Runtime runtime_;
  Device device_;

  std::optional<SourceText> pipeline_;
  Memory streams_;  // of memory sets; made once
  uint64_t streams_bytes_ = 0;
  double top_speed_ = 0;  // of the probe, GFLOP/s
};

}  // namespace stria::bench
