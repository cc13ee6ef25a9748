// SPDX-License-Identifier: Apache-2.0
#include "stria/several/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "stria/runtime/device_picker.h"
#include "stria/runtime/inside.h"

namespace stria {

std::vector<UnitRange> share_out(int64_t units, const std::vector<double>& shares) {
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<int64_t> counts(shares.size(), 0);
  int64_t left = units;
  // What each has at least when all end at once; then each unit goes to who would end it first.
  for (size_t n = 0; n < shares.size(); ++n) {
    const double exact = static_cast<double>(units) * shares[n] / all;
    counts[n] = std::min(left, static_cast<int64_t>(std::floor(exact)));
    left -= counts[n];
  }
  for (; left > 0; --left) {
    size_t first = shares.size();
    for (size_t n = 0; n < shares.size(); ++n) {
      if (shares[n] <= 0) continue;
      const auto end = [&](size_t at) { return static_cast<double>(counts[at] + 1) / shares[at]; };
      if (first == shares.size() || end(n) < end(first)) first = n;
    }
    ++counts[first];
  }
  std::vector<UnitRange> out;
  int64_t begin = 0;
  for (const int64_t count : counts) {
    out.push_back({begin, begin + count});
    begin += count;
  }
  return out;
}

bool are_alike(const Device& a, const Device& b) {
  return a.info().plugin == b.info().plugin && a.info().kind == b.info().kind &&
         Inside::model(a).to_string() == Inside::model(b).to_string();
}

Result<std::vector<double>> predicted_shares(std::span<const Device> devices,
                                             const Compilation& program,
                                             const CompileOptions& options) {
  std::vector<double> out(devices.size(), 1);
  if (std::all_of(devices.begin(), devices.end(),
                  [&](const Device& one) { return are_alike(one, devices[0]); }))
    return out;
  for (size_t n = 0; n < devices.size(); ++n) {
    size_t same = 0;
    while (!are_alike(devices[same], devices[n])) ++same;
    if (same < n) {
      out[n] = out[same];
      continue;
    }
    STRIA_ASSIGN(const std::vector<Prediction> known,
                 DevicePicker::of_device(devices[n], program, options));
    std::optional<Prediction> best;
    if (!known.empty()) best = known.back();
    if (!best) best = DevicePicker::by_bounds(program, Inside::model(devices[n]));
    if (!best || best->run.seconds <= 0)
      return unsupported(
          "nobody can predict what '{}' takes on {}: leave that device out, or give shares "
          "(SplitOptions::shares)",
          program.bound.name, devices[n].name());
    out[n] = 1 / best->run.seconds;
  }
  return out;
}

}  // namespace stria
