// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/fastest_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace stria {

// The times of one kernel vary by a percent or two from one minute to the next.
static constexpr double kClearlyFaster = 0.98;

Result<size_t> fastest_candidate(const std::string& block,
                                 const std::vector<TimedCandidate>& candidates, int64_t margin_ns,
                                 PassContext& context) {
  Measure::Programs alone;
  for (const TimedCandidate& candidate : candidates) alone.push_back(candidate.kernel);
  const std::vector<Result<MeasuredTime>> times =
      measured_times(*context.measure(), context.model(), alone);
  std::optional<Status> failure;
  std::optional<size_t> out;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string& tile = candidates[i].tile;
    const Result<MeasuredTime>& time = times[i];
    if (!time.ok()) {
      if (!failure)
        failure = time.status().with_context(fmt::format("block '{}', tile {}", block, tile));
      context.count("candidates_that_fail");
      context.note(
          fmt::format("{}: {}. {} is left out: {}", block, i + 1, tile, time.status().message()));
      continue;
    }
    context.count(time->kept ? "times_known" : "candidates_timed");
    if (context.explaining())
      context.note(fmt::format("{}: {}. {} takes {:.6g} ns on {}", block, i + 1, tile, time->ns,
                               context.measure()->device));
    if (time->ns >= std::min(kClearlyFaster * least, least - static_cast<double>(margin_ns)))
      continue;
    least = time->ns;
    out = i;
  }
  if (!out && failure) return *failure;
  return out.value_or(0);
}

}  // namespace stria
