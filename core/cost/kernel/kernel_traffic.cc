// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/kernel/kernel_traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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

// The lines of a view in the box of some loops.
struct Box {
  double runs = 1, run_lines = 1;  // pieces that lie in a row, and lines of each
  double step_bytes = 0;           // between the runs
  double lines() const { return runs * run_lines; }
};

Box box_of(const KernelNest& nest, const Use& use, size_t first, double line_bytes) {
  std::vector<std::pair<double, double>> steps;  // bytes, points
  for (size_t at = first; at < use.loops.size(); ++at)
    if (const int64_t stride = use.stride(use.loops[at]); stride != 0)
      steps.emplace_back(
          std::abs(static_cast<double>(stride)) * static_cast<double>(use.tensor->element_bytes),
          nest.loops[use.loops[at]].range);
  std::sort(steps.begin(), steps.end());
  Box out;
  double run = static_cast<double>(use.tensor->element_bytes);
  double last_points = 1;  // of the runs; windows move by the same step
  for (const auto& [bytes, points] : steps) {
    if (out.runs == 1 && bytes <= std::max(run, line_bytes)) {
      run += bytes * (points - 1);
    } else if (bytes == out.step_bytes) {
      out.runs *= (last_points + points - 1) / last_points;
      last_points += points - 1;
    } else {
      out.runs *= points;
      out.step_bytes = bytes;
      last_points = points;
    }
  }
  out.run_lines = std::max(1.0, std::ceil(run / line_bytes));
  // A run that is no whole number of lines begins anywhere in its first one.
  if (out.runs > 1 && std::fmod(out.step_bytes, line_bytes) != 0) out.run_lines += 0.5;
  const double most = std::max(1.0, std::ceil(use.tensor->bytes / line_bytes));
  if (out.lines() > most) out.run_lines = most / out.runs;
  return out;
}

// Do its runs find places in the sets? Runs that are so far apart that addresses meet share sets.
bool has_places(const Box& box, const KernelCache& cache) {
  if (cache.ways <= 0 || box.runs <= 1) return true;
  const auto around = cache.sets * cache.line_bytes;
  const int64_t common = std::gcd(static_cast<int64_t>(box.step_bytes), around);
  const double apart =
      std::min(box.runs, static_cast<double>(around / std::max<int64_t>(common, 1)));
  return std::ceil(box.runs / apart) <= static_cast<double>(cache.ways);
}

// How many loops around both there are, from the outside.
size_t common(const Use& a, const Use& b) {
  size_t out = 0;
  while (out < std::min(a.loops.size(), b.loops.size()) && a.loops[out] == b.loops[out]) ++out;
  return out;
}

// Does the second one, at each point of the loops that both have, use what the first one did? What
// is stored goes out, whoever has loaded it.
bool brings_the_same(const KernelNest& nest, const Use& first, const Use& second,
                     double line_bytes) {
  if (first.tensor != second.tensor || first.stores != second.stores) return false;
  const size_t around = common(first, second);
  for (size_t at = 0; at < around; ++at)
    if (first.stride(first.loops[at]) != second.stride(second.loops[at])) return false;
  const double one = box_of(nest, first, around, line_bytes).lines();
  const double other = box_of(nest, second, around, line_bytes).lines();
  return one * first.part >= 0.5 * other * second.part;
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

KernelTraffic traffic_of(const KernelNest& nest, const KernelCache& cache,
                         const std::function<bool(const NestTensor& tensor)>& is_behind) {
  const std::vector<Use> uses = uses_of(nest, is_behind);
  const auto line = static_cast<double>(std::max<int64_t>(cache.line_bytes, 1));
  // What all views in one point of the loop hold together, by loop.
  std::map<size_t, double> held;
  for (const Use& use : uses)
    for (size_t at = 0; at < use.loops.size(); ++at)
      held[use.loops[at]] += box_of(nest, use, at + 1, line).lines() * line;
  KernelTraffic out;
  for (size_t u = 0; u < uses.size(); ++u) {
    const Use& use = uses[u];
    // What another view of the same elements has just brought is still there.
    if (std::any_of(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(u),
                    [&](const Use& before) {
                      const size_t around = common(before, use);
                      return brings_the_same(nest, before, use, line) &&
                             (around == 0 || held[use.loops[around - 1]] <= cache.capacity);
                    }))
      continue;
    // From the inside out: `first` is where the box begins that is brought at once.
    double times = 1;
    size_t first = use.loops.size();
    for (size_t at = use.loops.size(); at-- > 0;) {
      const size_t loop = use.loops[at];
      const bool kept =
          held[loop] <= cache.capacity && has_places(box_of(nest, use, at + 1, line), cache);
      // Where values choose the place, each point is somewhere else.
      const bool anywhere = use.chosen && use.stride(loop) == 0;
      if (!kept || times > 1 || anywhere)
        times *= nest.loops[loop].range;
      else if (use.stride(loop) != 0 || !nest.loops[loop].parallel)
        first = at;
      else  // each unit has a cache of its own
        times *= std::min(nest.loops[loop].range, cache.units);
    }
    const Box box = box_of(nest, use, first, line);
    double lines = box.lines();
    if (box.runs * times > 1) lines += box.runs * cache.run_lines;
    double bytes = times * lines * line * use.part;
    if (use.chosen && use.tensor->bytes <= cache.capacity)
      bytes = std::min(bytes, use.tensor->bytes);
    if (use.streamed)
      out.streamed_bytes += bytes;
    else
      (use.stores ? out.written_bytes : out.read_bytes) += bytes;
  }
  return out;
}

}  // namespace stria::cost
