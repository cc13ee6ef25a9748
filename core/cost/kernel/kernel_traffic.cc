// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/kernel/kernel_traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace stria::cost {
namespace {

// All accesses of a tensor with one form: neighbours that differ by constants share their lines.
struct Use {
  const NestTensor* tensor = nullptr;
  NestForm form;
  std::vector<size_t> loops;  // around it, outermost first; lanes included
  double part = 1;
  bool stores = false, streamed = false, chosen = false;

  int64_t stride(size_t loop) const {
    for (const auto& [index, stride] : form)
      if (index == loop) return stride;
    return 0;
  }
};

// The bytes of the lines in the box of the loops from `first` on.
double box_bytes(const KernelNest& nest, const Use& use, size_t first, double line_bytes) {
  std::vector<std::pair<double, double>> steps;  // bytes, points
  for (size_t at = first; at < use.loops.size(); ++at)
    if (const int64_t stride = use.stride(use.loops[at]); stride != 0)
      steps.emplace_back(
          std::abs(static_cast<double>(stride)) * static_cast<double>(use.tensor->element_bytes),
          nest.loops[use.loops[at]].range);
  std::sort(steps.begin(), steps.end());
  double run = static_cast<double>(use.tensor->element_bytes), runs = 1;
  double last_step = 0, last_points = 1;  // of the runs; windows move by the same step
  for (const auto& [bytes, points] : steps) {
    if (runs == 1 && bytes <= std::max(run, line_bytes)) {
      run += bytes * (points - 1);
    } else if (bytes == last_step) {
      runs *= (last_points + points - 1) / last_points;
      last_points += points - 1;
    } else {
      runs *= points;
      last_step = bytes;
      last_points = points;
    }
  }
  const double lines = runs * std::max(1.0, std::ceil(run / line_bytes));
  return std::min(lines * line_bytes, std::max(use.tensor->bytes, line_bytes));
}

std::vector<Use> uses_of(const KernelNest& nest,
                         const std::function<bool(const NestTensor& tensor)>& is_behind) {
  std::vector<Use> out;
  for (const NestPiece& piece : nest.pieces)
    for (const NestOperation& operation : piece.operations) {
      if (operation.kind != NestOperation::Kind::access) continue;
      const NestAccess& access = operation.access;
      const NestTensor& tensor = nest.tensors[access.tensor];
      if (!is_behind(tensor)) continue;
      Use use{&tensor,       access.form,     piece.loops,  piece.part,
              access.stores, access.streamed, access.chosen};
      // The same view again, in the same loops or in others of the same nest: once.
      const auto same = std::find_if(out.begin(), out.end(), [&](const Use& other) {
        return other.tensor == use.tensor && other.form == use.form && other.stores == use.stores;
      });
      if (same == out.end())
        out.push_back(std::move(use));
      else if (same->loops.size() < use.loops.size())
        *same = std::move(use);
    }
  return out;
}

}  // namespace

KernelTraffic traffic_of(const KernelNest& nest, double capacity, int64_t line_bytes, double units,
                         const std::function<bool(const NestTensor& tensor)>& is_behind) {
  const std::vector<Use> uses = uses_of(nest, is_behind);
  const auto line = static_cast<double>(std::max<int64_t>(line_bytes, 1));
  // What all views in one point of the loop hold together, by loop.
  std::map<size_t, double> held;
  for (const Use& use : uses)
    for (size_t at = 0; at < use.loops.size(); ++at)
      held[use.loops[at]] += box_bytes(nest, use, at + 1, line);
  KernelTraffic out;
  for (const Use& use : uses) {
    // From the inside out: `first` is where the box begins that is brought at once.
    double times = 1;
    size_t first = use.loops.size();
    for (size_t at = use.loops.size(); at-- > 0;) {
      const size_t loop = use.loops[at];
      if (held[loop] > capacity)
        times *= nest.loops[loop].range;
      else if (use.stride(loop) != 0 || !nest.loops[loop].parallel)
        first = std::min(first, at);
      else  // each unit has a cache of its own
        times *= std::min(nest.loops[loop].range, units);
    }
    double bytes = times * box_bytes(nest, use, first, line) * use.part;
    if (use.chosen) bytes = std::min(bytes, use.tensor->bytes * times);
    if (use.streamed)
      out.streamed_bytes += bytes;
    else
      (use.stores ? out.written_bytes : out.read_bytes) += bytes;
  }
  return out;
}

}  // namespace stria::cost
