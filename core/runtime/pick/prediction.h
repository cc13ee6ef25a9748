// SPDX-License-Identifier: Apache-2.0
// What a program is expected to take on each device, and the choice that follows. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/source_text.h"
#include "stria/base/time_range.h"
#include "stria/runtime/pick/selection.h"

namespace stria {

// Who says how long a program takes, the less certain first.
enum class PredictedBy {
  bounds,    // of the machine, for the program before any pass
  model,     // of each kernel of the device's Stripe, by the hardware model
  plugin,    // by the plugin of the device (stria_estimate_table)
  measured,  // it has run there
};
// "bounds", "model", "plugin", "measured".
STRIA_API std::string_view name_of(PredictedBy by);

struct Prediction {
  PredictedBy by = PredictedBy::bounds;
  TimeRange run;        // one run of main, its tensors on the device already
  TimeRange prologue;   // once for each binding of constants; 0 by bounds
  double build_s = 0;   // passes and the plugin's compiler; 0: not known
  double energy_j = 0;  // of one run; 0: not known
  uint64_t peak_bytes =
      0;  // device memory while a run is under way, the caller's tensors included;
          // 0: not known
  struct Kernel {
    std::string name;
    bool prologue = false;
    std::optional<TimeRange> time;  // nullopt: not known
    std::string terms;              // why: "operations 10.1, L2 from DRAM 3.2, launch 0.1", in us
  };
  std::vector<Kernel> kernels;  // by model only, in launch order
  size_t unknown_kernels = 0;   // of main without a time, which `run` lacks
};

// What is known of one device that a selection keeps.
struct Candidate {
  size_t device = 0;                    // position in Selection::devices
  bool software = false;                // runs on the processor what is made for another device
  bool simulated = false;               // no machine is behind it
  std::vector<Prediction> predictions;  // the more certain ones last; empty: nothing is known
  std::string trouble;                  // why the last ones are missing; may be empty
  // The prediction that counts; null: none.
  const Prediction* best() const { return predictions.empty() ? nullptr : &predictions.back(); }
};

// A hardware model that no device has.
struct ModelFile {
  SourceText hw;  // a file, and what is in it
  // Whose pipeline makes device Stripe for it: the kind of a device as plugins name it,
  // "acme:gpu", or "gpu" of the first plugin that has it. Empty: that of the first kind whose own
  // model has units of the same names, caches aside.
  std::string kind;
};

// What is known of such a model. Nothing runs there, so it is no device, and is never picked.
struct PickedModel {
  std::string file, name, kind;         // kind: "acme:gpu"
  std::vector<Objection> objections;    // the program cannot run there, or not well enough
  std::vector<Prediction> predictions;  // the more certain ones last
  std::string trouble;                  // why the last ones are missing; may be empty
  uint64_t memory_bytes = 0;            // of its main memory; 0: not known
  size_t place = 0;  // so many of the devices in Pick::selection's order are before it
  const Prediction* best() const { return predictions.empty() ? nullptr : &predictions.back(); }
  bool kept() const { return objections.empty(); }
};

struct Pick {
  // Kept are the devices that meet what a prediction can tell, too: a deadline, a cap of power,
  // memory at the peak. Its `order` is that of the choice: the first is the winner.
  Selection selection;
  std::vector<Candidate> candidates;  // of the devices that the selection kept before, in order
  // "acme:0 takes 12.3 us (8.1 us .. 18.5 us), big:1 takes 45 us (30.1 us .. 67.2 us)"; "" if none
  // is left.
  std::string why;
  // Whether the intervals of the first two reach into each other: the choice is the likelier one.
  bool is_close = false;
  std::vector<PickedModel> models;  // that were asked about, the better ones first
  // Of the device at this position of Selection::devices; null if it was dropped before.
  STRIA_API const Candidate* candidate(size_t device) const;
};

// What the selector's objective asks for, of one device: less is better. Seconds, or joules.
// nullopt: the prediction does not tell.
STRIA_API std::optional<TimeRange> objective_of(const Prediction& prediction,
                                                const DeviceSelector& selector);

// The choice. Devices of a list without `auto` stay in the order of the list; of others the one
// comes first that is expected to be best, software drivers and simulated devices behind all
// others, and what nobody can predict behind what somebody can. Models take their place beside the
// devices, as machines, and change nothing of the order. A function of its arguments.
STRIA_API Pick choose(Selection selection, std::vector<Candidate> candidates,
                      std::vector<PickedModel> models = {});

}  // namespace stria
