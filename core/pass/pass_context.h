// SPDX-License-Identifier: Apache-2.0
// What a pass sees besides the program: the hardware model, and a report. In the report it counts
// what it did, and notes why it left something alone. One context serves one run of one pipeline on
// one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/type/scalar.h"

namespace stria {

// How near to the cheapest choice a search by cost has come, as far as it is proven.
struct SearchProof {
  std::string block;
  std::string search;     // "exhaustive"
  int64_t looked_at = 0;  // choices
  double cost = 0;        // of the one that was chosen, above 0
  double least = 0;       // no choice of those that were searched costs less; 0: not known
  // The part by which the choice may cost more than the cheapest: 0.02 = 2%.
  double above() const { return least > 0 ? cost / least - 1 : 0; }
};

// What one step of a pipeline did.
struct StepReport {
  std::string step;  // the step's name in the pipeline
  std::string pass;
  int64_t matched = 0;  // blocks (or refinements) that the pass's `reqs` selected
  int64_t changed = 0;  // of these, how many it changed
  std::map<std::string, int64_t> counters;  // "blocks_tiled" -> 3
  std::vector<std::string> notes;           // "kernel_0: skipped: …", in order
  std::vector<SearchProof> searches;        // that proved something, in order
  // What the verifier could not decide about the program after the step, if it ran; these are no
  // errors.
  std::vector<std::string> undecided;
  double milliseconds = 0;
  // The text: "matched nothing (…)" with the notes, or "2 matched, 1 changed; blocks_tiled 1", with
  // the notes if `verbose`. It has no times, so it is the same in every run. The summary and each
  // note are cut to kMaxMessageBytes.
  std::string to_string(bool verbose = false) const;
};

// Computes the intrinsic `name.type` on these operands, of any types; nullopt if there is no such
// intrinsic.
using EvaluateIntrinsic = std::function<std::optional<Scalar>(std::string_view name, DataType type,
                                                              const std::vector<Scalar>& operands)>;

struct Measure;  // measure.h

class PassContext {
 public:
  // All pointers are borrowed.
  explicit PassContext(const HardwareModel& model, const EvaluateIntrinsic* evaluate = nullptr,
                       const Measure* measure = nullptr, bool explaining = false)
      : model_(&model), evaluate_(evaluate), measure_(measure), explaining_(explaining) {}

  const HardwareModel& model() const { return *model_; }
  // Null if the caller of the pipeline gave none.
  const EvaluateIntrinsic* evaluate() const { return evaluate_; }
  // Null if no device times blocks.
  const Measure* measure() const { return measure_; }
  // Someone wants to read why the pass decides as it does. Then the pass notes it, with the
  // numbers.
  bool explaining() const { return explaining_; }

  // For passes: a selected block was looked at, and changed or left alone for a reason.
  void matched() { ++report_.matched; }
  void changed() { ++report_.changed; }
  void count(std::string_view counter, int64_t by = 1);
  // Counts under "skipped: <reason>" and notes which block.
  void skipped(std::string_view block, std::string_view reason);
  void note(std::string text) { report_.notes.push_back(std::move(text)); }
  void searched(SearchProof proof) { report_.searches.push_back(std::move(proof)); }

  // For the pass manager.
  void begin_step(std::string step, std::string pass);
  StepReport& report() { return report_; }

 private:
  const HardwareModel* model_;
  const EvaluateIntrinsic* evaluate_;
  const Measure* measure_;
  bool explaining_;
  StepReport report_;
};

}  // namespace stria
