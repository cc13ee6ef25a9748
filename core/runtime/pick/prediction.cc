// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/pick/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stria/runtime/pick/quantity.h"

namespace stria {
namespace {

std::string shown_value(const TimeRange& value, bool joules) {
  return joules ? fmt::format("{:.3g} J", value.seconds) : shown_range(value);
}

// What a prediction says against a device or a model with so much memory; null: there is none.
void add_limits(const Prediction* said, const DeviceSelector& selector, uint64_t has,
                std::vector<Objection>& objections) {
  const auto add = [&](Gate gate, std::string why) {
    objections.push_back({gate, std::nullopt, std::move(why)});
  };
  if (said == nullptr) {
    if (selector.deadline_s || selector.power_w || selector.objective == Objective::energy)
      add(Gate::limit, "nobody can predict what it takes");
    return;
  }
  const Prediction& prediction = *said;
  if (has > 0 && prediction.peak_bytes > has)
    add(Gate::memory, fmt::format("it lacks memory: a run has {} at once, it has {}",
                                  shown_bytes(prediction.peak_bytes), shown_bytes(has)));
  if (selector.deadline_s && prediction.run.least > *selector.deadline_s)
    add(Gate::limit, fmt::format("a run takes {}, and must not take longer than {}",
                                 shown_range(prediction.run), shown_seconds(*selector.deadline_s)));
  if (selector.objective == Objective::energy && prediction.energy_j <= 0)
    add(Gate::limit, "nobody knows how much energy it takes");
  if (!selector.power_w) return;
  if (prediction.energy_j <= 0 || prediction.run.seconds <= 0) {
    add(Gate::limit, "nobody knows how much power it takes");
    return;
  }
  const double watts = prediction.energy_j / prediction.run.seconds;
  if (watts > *selector.power_w)
    add(Gate::limit, fmt::format("it takes {:.3g} W, and must not take more than {}", watts,
                                 watts_text(*selector.power_w)));
}

// Where a device or a model stands among the others.
struct Place {
  int behind = 0;  // of what comes first: machines, software drivers, what is simulated
  bool unknown = true;
  double value = 0;
  bool operator<(const Place& other) const {
    if (behind != other.behind) return behind < other.behind;
    if (unknown != other.unknown) return other.unknown;
    return !unknown && value < other.value;
  }
};

Place place_of(const Prediction* best, const DeviceSelector& selector, int behind) {
  Place out;
  out.behind = behind;
  if (best == nullptr) return out;
  if (const std::optional<TimeRange> value = objective_of(*best, selector)) {
    // A time that lacks kernels is less than the truth.
    out.unknown = best->unknown_kernels > 0;
    out.value = value->seconds;
  }
  return out;
}

// Beside the devices of `order`, which are at `places`. Those that are dropped come last.
void place_models(std::vector<PickedModel>& models, const Selection& selection,
                  const std::vector<Place>& places) {
  const DeviceSelector& selector = selection.selector;
  for (PickedModel& model : models) {
    if (model.kept()) add_limits(model.best(), selector, model.memory_bytes, model.objections);
    model.place = selection.order.size();
    // The order of a list is not one of times.
    if (!selector.automatic || !model.kept()) continue;
    const Place place = place_of(model.best(), selector, 0);
    model.place = static_cast<size_t>(
        std::count_if(selection.order.begin(), selection.order.end(),
                      [&](size_t device) { return !(place < places[device]); }));
  }
  std::stable_sort(models.begin(), models.end(), [&](const PickedModel& a, const PickedModel& b) {
    if (a.kept() != b.kept()) return a.kept();
    return place_of(a.best(), selector, 0) < place_of(b.best(), selector, 0);
  });
}

}  // namespace

std::string_view name_of(PredictedBy by) {
  switch (by) {
    case PredictedBy::bounds: return "bounds";
    case PredictedBy::model: return "model";
    case PredictedBy::plugin: return "plugin";
    case PredictedBy::measured: return "measured";
  }
  return "";
}

const Candidate* Pick::candidate(size_t device) const {
  for (const Candidate& one : candidates)
    if (one.device == device) return &one;
  return nullptr;
}

std::optional<TimeRange> objective_of(const Prediction& prediction,
                                      const DeviceSelector& selector) {
  if (selector.objective == Objective::energy) {
    if (prediction.energy_j <= 0) return std::nullopt;
    return TimeRange{prediction.energy_j, prediction.energy_j, prediction.energy_j};
  }
  if (prediction.run.seconds <= 0) return std::nullopt;
  const TimeRange build{prediction.build_s, prediction.build_s, prediction.build_s};
  const bool counts_build = selector.objective == Objective::first_result || selector.runs;
  if (counts_build && prediction.build_s <= 0) return std::nullopt;
  // Until the first result is there, or for each of so many runs.
  if (selector.objective == Objective::first_result)
    return build + prediction.prologue + prediction.run;
  if (selector.runs)
    return (1 / static_cast<double>(std::max<uint64_t>(*selector.runs, 1))) *
               (build + prediction.prologue) +
           prediction.run;
  return prediction.run;
}

Pick choose(Selection selection, std::vector<Candidate> candidates,
            std::vector<PickedModel> models) {
  Pick out;
  out.selection = std::move(selection);
  const DeviceSelector& selector = out.selection.selector;
  std::vector<Place> places(out.selection.devices.size());
  for (const Candidate& one : candidates) {
    DeviceVerdict& verdict = out.selection.devices[one.device];
    add_limits(one.best(), selector, verdict.device.memory_bytes, verdict.objections);
    places[one.device] = place_of(one.best(), selector, one.simulated ? 2 : one.software ? 1 : 0);
  }
  std::erase_if(out.selection.order,
                [&](size_t device) { return !out.selection.devices[device].kept(); });
  if (selector.automatic)
    std::stable_sort(out.selection.order.begin(), out.selection.order.end(),
                     [&](size_t a, size_t b) { return places[a] < places[b]; });
  out.models = std::move(models);
  place_models(out.models, out.selection, places);
  // Those that are left in the order of the choice, then the others.
  for (const size_t device : out.selection.order)
    for (Candidate& one : candidates)
      if (one.device == device) out.candidates.push_back(one);
  for (Candidate& one : candidates)
    if (!out.selection.devices[one.device].kept()) out.candidates.push_back(std::move(one));

  const bool joules = selector.objective == Objective::energy;
  std::vector<TimeRange> first;
  for (size_t i = 0; i < std::min<size_t>(2, out.selection.order.size()); ++i) {
    const Candidate& one = out.candidates[i];
    const std::string& name = out.selection.devices[one.device].device.selector;
    const std::optional<TimeRange> value =
        one.best() != nullptr ? objective_of(*one.best(), selector) : std::nullopt;
    out.why += i == 0 ? "" : ", ";
    out.why += value ? fmt::format("{} takes {}", name, shown_value(*value, joules))
                     : fmt::format("{} cannot be predicted", name);
    if (value && !joules) first.push_back(*value);
  }
  out.is_close = first.size() == 2 && first[0].overlaps(first[1]) &&
                 places[out.selection.order[0]].behind == places[out.selection.order[1]].behind;
  return out;
}

}  // namespace stria
